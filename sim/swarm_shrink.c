/* swarm_shrink.c - tightens limits as long as the failure stays. Ours. */
#include "sim/swarm_shrink.h"

#include <inttypes.h>
#include <stdio.h>

#define PERCENT_MIN 2

struct shrinking {
    struct swarm_limits best;
    bool (*fails)(void *context, const struct swarm_limits *limits);
    void *context;
    uint32_t runs;
};

/* True if `candidate` is smaller and fails: it is the best then. */
static bool keep(struct shrinking *shrinking, const struct swarm_limits *candidate)
{
    shrinking->runs++;
    if (!shrinking->fails(shrinking->context, candidate))
        return false;
    shrinking->best = *candidate;
    return true;
}

static bool shrink_counts(struct shrinking *shrinking)
{
    const struct swarm_limits *best = &shrinking->best;
    bool better = false;
    for (uint32_t count = 1; count < best->producers; count++) {
        struct swarm_limits candidate = *best;
        candidate.producers = count;
        if (keep(shrinking, &candidate))
            better = true;
    }
    for (uint32_t count = 0; count < best->ranks; count++) {
        struct swarm_limits candidate = *best;
        candidate.ranks = count;
        if (keep(shrinking, &candidate))
            better = true;
    }
    for (uint32_t count = 0; count < best->reclaimers; count++) {
        struct swarm_limits candidate = *best;
        candidate.reclaimers = count;
        if (keep(shrinking, &candidate))
            better = true;
    }
    return better;
}

static bool shrink_faults(struct shrinking *shrinking)
{
    const struct swarm_limits *best = &shrinking->best;
    bool better = false;
    for (uint32_t bit = FAULT_NONE + 1; bit < SWARM_FAULTS; bit++) {
        struct swarm_limits candidate = *best;
        candidate.faults &= ~(UINT32_C(1) << bit);
        if (candidate.faults != best->faults && keep(shrinking, &candidate))
            better = true;
    }
    return better;
}

static bool shrink_length(struct shrinking *shrinking)
{
    const struct swarm_limits *best = &shrinking->best;
    bool better = false;
    while (best->percent > PERCENT_MIN) {
        struct swarm_limits candidate = *best;
        candidate.percent = best->percent * 2 / 3;
        if (!keep(shrinking, &candidate))
            break;
        better = true;
    }
    return better;
}

struct swarm_limits swarm_shrink(const struct swarm_limits *failing,
                                 bool (*fails)(void *context, const struct swarm_limits *limits),
                                 void *context, uint32_t *runs)
{
    struct shrinking shrinking = {.best = *failing, .fails = fails, .context = context};
    bool better = true;
    while (better) {
        better = shrink_counts(&shrinking);
        better |= shrink_faults(&shrinking);
        better |= shrink_length(&shrinking);
    }
    *runs = shrinking.runs;
    return shrinking.best;
}

static size_t append(char *text, size_t text_bytes, size_t used, const char *more)
{
    int wrote = snprintf(text + used, text_bytes - used, "%s", more);
    size_t left = text_bytes - used;
    return used + (wrote > 0 && (size_t)wrote < left ? (size_t)wrote : 0);
}

static size_t append_faults(char *text, size_t text_bytes, size_t used, uint32_t faults)
{
    const char *before = " --faults ";
    for (uint32_t bit = FAULT_NONE + 1; bit < SWARM_FAULTS; bit++) {
        if ((faults >> bit & 1u) == 0)
            continue;
        used = append(text, text_bytes, used, before);
        used = append(text, text_bytes, used, swarm_fault_name(bit));
        before = ",";
    }
    return before[0] == ' ' ? append(text, text_bytes, used, " --faults none") : used;
}

void swarm_limits_text(const struct swarm_limits *limits, char *text, size_t text_bytes)
{
    struct swarm_limits none = swarm_limits_none(limits->seed);
    uint32_t real = ~UINT32_C(1); /* FAULT_NONE is no fault */
    char part[64];
    size_t used = 0;
    text[0] = '\0';
    snprintf(part, sizeof(part), "--seed %" PRIu64, limits->seed);
    used = append(text, text_bytes, used, part);
    if (limits->producers != none.producers) {
        snprintf(part, sizeof(part), " --producers %" PRIu32, limits->producers);
        used = append(text, text_bytes, used, part);
    }
    if (limits->ranks != none.ranks) {
        snprintf(part, sizeof(part), " --ranks %" PRIu32, limits->ranks);
        used = append(text, text_bytes, used, part);
    }
    if (limits->reclaimers != none.reclaimers) {
        snprintf(part, sizeof(part), " --reclaimers %" PRIu32, limits->reclaimers);
        used = append(text, text_bytes, used, part);
    }
    if (limits->percent != none.percent) {
        snprintf(part, sizeof(part), " --percent %" PRIu32, limits->percent);
        used = append(text, text_bytes, used, part);
    }
    if ((limits->faults & real) != (none.faults & real))
        append_faults(text, text_bytes, used, limits->faults);
}
