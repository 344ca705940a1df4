/* swarm_shrink.c - tightens limits as long as the failure stays. Ours. */
#include "sim/swarm_shrink.h"

#include <inttypes.h>
#include <stdio.h>

#define PERCENT_MIN 2

static bool fails(const struct swarm_limits *limits, uint32_t *runs)
{
    struct swarm_config config;
    struct swarm_result result;
    struct swarm_options options = {.config = &config};
    swarm_config_draw(&config, limits);
    swarm_run(&options, &result);
    ++*runs;
    return result.violations.count > 0;
}

/* True if `candidate` is smaller and fails: it is the best then. */
static bool keep(struct swarm_limits *best, const struct swarm_limits *candidate, uint32_t *runs)
{
    if (!fails(candidate, runs))
        return false;
    *best = *candidate;
    return true;
}

static bool shrink_counts(struct swarm_limits *best, uint32_t *runs)
{
    bool better = false;
    for (uint32_t count = 1; count < best->producers; count++) {
        struct swarm_limits candidate = *best;
        candidate.producers = count;
        if (keep(best, &candidate, runs))
            better = true;
    }
    for (uint32_t count = 0; count < best->ranks; count++) {
        struct swarm_limits candidate = *best;
        candidate.ranks = count;
        if (keep(best, &candidate, runs))
            better = true;
    }
    for (uint32_t count = 0; count < best->reclaimers; count++) {
        struct swarm_limits candidate = *best;
        candidate.reclaimers = count;
        if (keep(best, &candidate, runs))
            better = true;
    }
    return better;
}

static bool shrink_faults(struct swarm_limits *best, uint32_t *runs)
{
    bool better = false;
    for (uint32_t bit = FAULT_NONE + 1; bit < SWARM_FAULTS; bit++) {
        struct swarm_limits candidate = *best;
        candidate.faults &= ~(UINT32_C(1) << bit);
        if (candidate.faults != best->faults && keep(best, &candidate, runs))
            better = true;
    }
    return better;
}

static bool shrink_length(struct swarm_limits *best, uint32_t *runs)
{
    bool better = false;
    while (best->percent > PERCENT_MIN) {
        struct swarm_limits candidate = *best;
        candidate.percent = best->percent * 2 / 3;
        if (!keep(best, &candidate, runs))
            break;
        better = true;
    }
    return better;
}

struct swarm_limits swarm_shrink(const struct swarm_limits *failing, uint32_t *runs)
{
    struct swarm_limits best = *failing;
    bool better = true;
    *runs = 0;
    while (better) {
        better = shrink_counts(&best, runs);
        better |= shrink_faults(&best, runs);
        better |= shrink_length(&best, runs);
    }
    return best;
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
