/* figure_style.c - a policy has its styles; its curves take them in their order, and where there
 * are too many of them, those that no other policy needs: up to twelve curves all differ. dac's
 * default estimator is the first of dac's, whatever stands before it. */
#include "experiments/figures/figure_style.h"

#include <math.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure_curve.h"

#define STYLES_MAX 4   /* of one family */
#define STYLE_COUNT 12 /* of plots/common.gp */
#define SPARE_FIRST 9  /* those of other policies are taken first */

struct family {
    const char *policy; /* NULL: all others */
    int alone;          /* of a policy's only curve */
    int count;
    int styles[STYLES_MAX]; /* of several */
};

static const struct family families[] = {
    {"fixed", 3, 3, {2, 3, 4}}, {"aimd", 5, 1, {5}},           {"incr", 6, 1, {6}},
    {"dac", 1, 3, {1, 7, 8}},   {NULL, 9, 4, {9, 10, 11, 12}},
};

static const struct family *family_of(const struct figure_arm *arm)
{
    const struct family *family = families;
    const char *policy = config_policy_kind(&arm->config)->name;
    while (family->policy != NULL && strcmp(family->policy, policy) != 0)
        family++;
    return family;
}

/* The curve that keeps its family's first style: of dac the default estimator's. */
static bool is_first(const struct figure_arm *arm)
{
    struct config defaults;
    const struct option *estimator = option_find("policy.dac.estimator");
    config_default(&defaults);
    double ours = option_number(&arm->config, estimator);
    return fabs(ours - option_number(&defaults, estimator)) < 0.5;
}

/* Where a curve takes its style from: how many of its family stand before it. Of dac the first with
 * the default estimator stands before all others. */
static size_t rank_in_family(const struct figure_data *data, size_t first)
{
    const struct family *family = family_of(&data->arms[first]);
    bool is_dac = family->policy != NULL && strcmp(family->policy, "dac") == 0;
    size_t leader = data->arm_count;
    size_t before = 0;
    for (size_t i = 0; is_dac && leader == data->arm_count && i < data->arm_count;
         i = curve_group_end(data, i))
        if (family_of(&data->arms[i]) == family && is_first(&data->arms[i]))
            leader = i;
    for (size_t i = 0; i < first; i = curve_group_end(data, i))
        before += family_of(&data->arms[i]) == family && i != leader;
    if (!is_dac)
        return before;
    return first == leader ? 0 : before + 1;
}

static size_t size_of_family(const struct figure_data *data, size_t first)
{
    size_t size = 0;
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        size += family_of(&data->arms[i]) == family_of(&data->arms[first]);
    return size;
}

/* Of its family's own; 0: they are used up. */
static int own_style(const struct figure_data *data, size_t first)
{
    const struct family *family = family_of(&data->arms[first]);
    size_t rank = rank_in_family(data, first);
    if (size_of_family(data, first) == 1 && rank == 0)
        return family->alone;
    return rank < (size_t)family->count ? family->styles[rank] : 0;
}

/* Curves whose family has no style left share out what no curve uses. */
static int spare_style(const struct figure_data *data, size_t first)
{
    bool used[STYLE_COUNT + 1] = {false};
    size_t before = 0;
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i)) {
        int style = own_style(data, i);
        used[style] = true;
        before += i < first && style == 0;
    }
    for (size_t k = 0; k < STYLE_COUNT; k++) {
        int style = 1 + (int)((k + SPARE_FIRST - 1) % STYLE_COUNT);
        if (!used[style] && before-- == 0)
            return style;
    }
    return 2 + (int)(first % (STYLE_COUNT - 1)); /* more curves than there are styles */
}

int figure_style(const struct figure_data *data, size_t first)
{
    int style = own_style(data, first);
    return style > 0 ? style : spare_style(data, first);
}
