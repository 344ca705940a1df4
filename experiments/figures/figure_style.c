/* figure_style.c - a policy has its styles; its curves take them in their order. dac's default
 * estimator is the first of dac's, whatever stands before it. */
#include "experiments/figures/figure_style.h"

#include <math.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure_curve.h"

#define STYLES_MAX 4

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

int figure_style(const struct figure_data *data, size_t first)
{
    const struct family *family = family_of(&data->arms[first]);
    bool is_dac = family->policy != NULL && strcmp(family->policy, "dac") == 0;
    int count = 0;
    int before = 0;
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i)) {
        if (family_of(&data->arms[i]) != family)
            continue;
        count++;
        before += i < first && !(is_dac && is_first(&data->arms[i]));
    }
    if (is_dac)
        return is_first(&data->arms[first]) ? 1 : family->styles[1 + before % (family->count - 1)];
    return count == 1 ? family->alone : family->styles[before % family->count];
}
