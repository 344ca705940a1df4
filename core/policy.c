/* policy.c - the table of policies: a new one is one file and one row here. */
#include "core/policy.h"

#include <string.h>

#define POLICIES(X)                                                                                \
    X(policy_fixed)                                                                                \
    X(policy_aimd)                                                                                 \
    X(policy_incr)                                                                                 \
    X(policy_dac)

#define X(kind) extern const struct policy_kind kind;
POLICIES(X)
#undef X

static const struct policy_kind *const kinds[] = {
#define X(kind) &kind,
    POLICIES(X)
#undef X
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

const struct policy_kind *policy_kind_at(size_t index)
{
    return index < KIND_COUNT ? kinds[index] : NULL;
}

const struct policy_kind *policy_kind_find(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

size_t policy_parameter_count(const struct policy_kind *kind)
{
    size_t count = 0;
    while (count < POLICY_PARAMETERS_MAX && kind->parameters[count].name)
        count++;
    return count;
}

void policy_init(struct policy *policy, const struct policy_kind *kind, const double *values)
{
    double defaults[POLICY_PARAMETERS_MAX] = {0};
    for (size_t i = 0; i < policy_parameter_count(kind); i++)
        defaults[i] = kind->parameters[i].value_default;
    *policy = (struct policy){.kind = kind};
    kind->init(&policy->state, values ? values : defaults);
}
