/* figure_contender.c - see the header. */
#include "experiments/figures/figure_contender.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure_style.h"
#include "experiments/figures/figure_text.h"

static void name_of(const struct figure_arm *arm, char name[FIGURE_NAME_MAX])
{
    char key[OPTION_TEXT_MAX];
    char estimator[OPTION_TEXT_MAX];
    const char *policy = config_policy_kind(&arm->config)->name;
    snprintf(key, sizeof(key), "policy.%s.estimator", policy);
    const struct option *option = option_find(key);
    snprintf(name, FIGURE_NAME_MAX, "%s", policy);
    if (option == NULL)
        return;
    option_print(&arm->config, option, estimator);
    snprintf(name, FIGURE_NAME_MAX, "%.60s-%.60s", policy, estimator);
}

static struct contender *find(struct contenders *contenders, const char *name)
{
    for (size_t i = 0; i < contenders->count; i++)
        if (strcmp(contenders->items[i].name, name) == 0)
            return &contenders->items[i];
    return NULL;
}

static struct contender *add(struct contenders *contenders, const char *name, size_t arms_max)
{
    struct contender *contender = &contenders->items[contenders->count++];
    snprintf(contender->name, sizeof(contender->name), "%s", name);
    contender->arms = calloc(arms_max, sizeof(*contender->arms));
    assert(contender->arms != NULL);
    return contender;
}

static bool has_group(const struct figure_data *data, const struct contender *contender,
                      const char *group)
{
    for (size_t i = 0; i < contender->arm_count; i++)
        if (strcmp(data->arms[contender->arms[i]].group, group) == 0)
            return true;
    return false;
}

void contenders_read(const struct figure_data *data, struct contenders *contenders)
{
    contenders->count = 0;
    contenders->items = calloc(data->arm_count + 1, sizeof(*contenders->items));
    assert(contenders->items != NULL);
    for (size_t i = 0; i < data->arm_count; i++) {
        char name[FIGURE_NAME_MAX];
        name_of(&data->arms[i], name);
        struct contender *contender = find(contenders, name);
        if (contender == NULL)
            contender = add(contenders, name, data->arm_count);
        contender->lines += has_group(data, contender, data->arms[i].group) ? 0 : 1;
        contender->arms[contender->arm_count++] = i;
    }
}

void contenders_deinit(struct contenders *contenders)
{
    for (size_t i = 0; i < contenders->count; i++)
        free(contenders->items[i].arms);
    free(contenders->items);
    *contenders = (struct contenders){0};
}

bool contender_at_defaults(const struct figure_arm *arm, const char *but_for)
{
    struct config defaults;
    const struct policy_kind *kind = config_policy_kind(&arm->config);
    config_default(&defaults);
    for (size_t i = 0; i < policy_parameter_count(kind); i++) {
        char key[OPTION_TEXT_MAX];
        snprintf(key, sizeof(key), "policy.%s.%s", kind->name, kind->parameters[i].name);
        const struct option *option = option_find(key);
        double ours = option_number(&arm->config, option);
        bool free = strcmp(kind->parameters[i].name, "estimator") == 0 || strcmp(key, but_for) == 0;
        if (!free && fabs(ours - option_number(&defaults, option)) > 1e-9 * fabs(ours))
            return false;
    }
    return true;
}

void contender_point(const struct contender *contender, const struct figure_arm *arm,
                     char text[FIGURE_NAME_MAX])
{
    char swept[TEXT_MAX];
    size_t bytes = strlen(contender->name);
    const char *line = arm->group;
    text_swept(arm, swept);
    if (strncmp(line, contender->name, bytes) == 0)
        line += bytes + (line[bytes] == '-' ? 1 : 0);
    snprintf(text, FIGURE_NAME_MAX, "%.60s%s%.60s", line, line[0] != '\0' ? "/" : "", swept);
}

int contender_style(const struct figure_data *data, const struct contenders *contenders,
                    size_t index)
{
    struct figure_data firsts = *data;
    firsts.arm_count = contenders->count;
    firsts.arms = calloc(contenders->count, sizeof(*firsts.arms));
    assert(firsts.arms != NULL);
    for (size_t i = 0; i < contenders->count; i++)
        firsts.arms[i] = data->arms[contenders->items[i].arms[0]];
    int style = figure_style(&firsts, index);
    free(firsts.arms);
    return style;
}
