/* swarm_config.c - draws a world. Each part has a random stream of its own. Ours. */
#include "sim/swarm_config.h"

#include <math.h>
#include <string.h>

#define WORLD_DOMAIN UINT64_C(0x574f524c44)
#define PLAN_DOMAIN UINT64_C(0x504c414e)
#define LIFE_DOMAIN UINT64_C(0x4c494645)
#define RANK_DOMAIN UINT64_C(0x52414e4b)
#define RECLAIM_DOMAIN UINT64_C(0x5245434c41494d)
#define ENTRY_DOMAIN UINT64_C(0x454e545259)
#define RANK_STREAMS 1000 /* keeps the second stream of a life apart from the first ones */
#define ENTRY_BYTES_MOST 160
#define BEHIND_MOST 4
#define PATIENCE 64  /* retries of a slice */
#define LATE_SHARE 3 /* of so many worlds, in one a rank may come late */
/* Of creates at most; more, and 64 in a row that come to nothing are no longer rare. */
#define CREATES_HIT_MOST 0.85
#define DAMAGED_MOST 0.05 /* of reads of slices, in each of two ways */

const char *swarm_fault_name(uint32_t bit)
{
    static const char *const upsets[] = {
#define X(code, name, text) name,
        SWARM_UPSETS(X)
#undef X
    };
    assert(bit < SWARM_FAULTS);
    if (bit < FAULT_KIND_COUNT)
        return fault_kind_name((enum fault_kind)bit);
    return upsets[bit - FAULT_KIND_COUNT];
}

uint32_t swarm_fault_find(const char *name, size_t name_bytes)
{
    uint32_t bit = FAULT_NONE + 1;
    while (bit < SWARM_FAULTS && (strlen(swarm_fault_name(bit)) != name_bytes ||
                                  strncmp(swarm_fault_name(bit), name, name_bytes) != 0))
        bit++;
    return bit;
}

static double draw_between(struct random_stream *random, double low, double high)
{
    return low + (high - low) * random_unit(random);
}

static double draw_magnitude(struct random_stream *random, double low, double high)
{
    return low * pow(high / low, random_unit(random));
}

int64_t swarm_draw_ns(struct random_stream *random, double low_ns, double high_ns)
{
    return (int64_t)draw_magnitude(random, low_ns, high_ns);
}

static uint32_t draw_count(struct random_stream *random, uint32_t low, uint32_t high)
{
    return low + (uint32_t)(random_next(random) % (high - low + 1));
}

struct swarm_limits swarm_limits_none(uint64_t seed)
{
    return (struct swarm_limits){.seed = seed,
                                 .producers = SWARM_PRODUCERS_MAX,
                                 .ranks = SWARM_RANKS_MAX,
                                 .reclaimers = SWARM_RECLAIMERS_MAX,
                                 .faults = SWARM_FAULTS_ALL,
                                 .percent = 100};
}

static int64_t units(const struct swarm_config *config, double count)
{
    return 1 + (int64_t)((double)config->unit_ns * count);
}

static bool allowed(const struct swarm_config *config, uint32_t bit)
{
    return (config->limits.faults >> bit & 1u) != 0;
}

/* A storm is shorter than the retries that a producer has patience for. */
static void draw_storms(struct swarm_config *config, struct random_stream *random)
{
    static const enum fault_kind others[] = {FAULT_LATE, FAULT_LATE, FAULT_LOST_REQUEST,
                                             FAULT_ERROR};
    const enum fault_kind kinds[FAULT_STORMS_MAX] = {FAULT_THROTTLED, FAULT_BUSY,
                                                     others[draw_count(random, 0, 3)]};
    for (size_t i = 0; i < FAULT_STORMS_MAX; i++) {
        bool creates = kinds[i] == FAULT_BUSY || kinds[i] == FAULT_LATE;
        bool comes = random_unit(random) < (creates ? 0.6 : 0.25);
        int64_t longest_ns = swarm_draw_ns(random, (double)units(config, creates ? 60 : 5),
                                           (double)units(config, creates ? 400 : 60));
        int64_t period_ns = (int64_t)((double)longest_ns * draw_magnitude(random, 1.5, 8));
        double probability = random_unit(random) < 0.5 ? 1.0 : draw_between(random, 0.3, 1);
        uint64_t seed = random_next(random);
        if (!comes || !allowed(config, kinds[i]))
            continue;
        config->plan.storms[i] = (struct fault_storm){.kind = kinds[i],
                                                      .probability = probability,
                                                      .period_ns = period_ns,
                                                      .longest_ns = longest_ns,
                                                      .seed = seed};
    }
}

/* In some worlds two kinds do everything, at the beginning of a chain too. */
static bool draw_focus(struct random_stream *random, double weights[FAULT_KIND_COUNT],
                       double *total)
{
    bool focused = random_unit(random) < 0.5;
    uint32_t kinds[2];
    for (size_t i = 0; i < 2; i++)
        kinds[i] = draw_count(random, FAULT_NONE + 1, FAULT_FIRST_FINAL - 1);
    double strength = draw_between(random, 0.3, 0.7);
    if (!focused)
        return false;
    for (uint32_t kind = 0; kind < FAULT_KIND_COUNT; kind++)
        weights[kind] = kind == kinds[0] || kind == kinds[1] ? 1.0 : 0.0;
    *total = strength;
    return true;
}

/* Reads that are damaged too often in a row end their rank: few are. */
static void draw_damage(struct swarm_config *config, struct random_stream *random)
{
    for (uint32_t kind = FAULT_FIRST_OF_DAMAGE; kind < FAULT_KIND_COUNT; kind++) {
        double share = draw_between(random, 0.0, DAMAGED_MOST);
        if (allowed(config, kind))
            config->plan.probability[STORE_GET][kind] = share;
    }
}

static void draw_plan(struct swarm_config *config)
{
    struct random_stream random = random_stream_make(config->limits.seed ^ PLAN_DOMAIN, 0);
    struct fault_plan *plan = &config->plan;
    double weights[FAULT_KIND_COUNT] = {0};
    double total = draw_magnitude(&random, 0.02, 0.7);
    double share = random_unit(&random);
    double sum = 0.0;
    for (int kind = FAULT_NONE + 1; kind < FAULT_FIRST_FINAL; kind++) {
        double weight = random_unit(&random);
        weights[kind] = random_unit(&random) < share ? weight : 0.0;
    }
    /* What hits creates alone would be rare beside what hits everything. */
    weights[FAULT_ERROR_APPLIED] *= 2.0;
    weights[FAULT_THROTTLED_APPLIED] *= 2.0;
    bool focused = draw_focus(&random, weights, &total);
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++)
        sum += weights[kind];
    for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++) {
        /* Creates are few, and what can happen to them is most of it. */
        double factor = focused ? 1.0 : draw_between(&random, 0.0, 1.0);
        if (verb == STORE_PUT_IF_ABSENT)
            factor = fmin(draw_between(&random, 1.0, 1.4), CREATES_HIT_MOST / total);
        for (uint32_t kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT && sum > 0.0; kind++)
            if (allowed(config, kind) &&
                fault_kind_hits((enum fault_kind)kind, (enum store_verb)verb))
                plan->probability[verb][kind] = weights[kind] / sum * total * factor;
    }
    plan->timeout_ns = swarm_draw_ns(&random, (double)units(config, 1), (double)units(config, 20));
    plan->delay_ns = swarm_draw_ns(&random, (double)units(config, 1), (double)units(config, 50));
    plan->late_min_ns = plan->timeout_ns / 2;
    plan->late_max_ns =
        swarm_draw_ns(&random, (double)plan->timeout_ns, (double)units(config, 2000));
    draw_storms(config, &random);
    draw_damage(config, &random);
}

static void draw_upsets(struct swarm_config *config, struct random_stream *random)
{
    config->upset_gap_ns =
        swarm_draw_ns(random, (double)units(config, 3), (double)units(config, 100));
    for (uint32_t i = 0; i < UPSET_COUNT; i++) {
        double weight = random_unit(random) < 0.6 ? random_unit(random) : 0.0;
        config->upset_weights[i] = allowed(config, FAULT_KIND_COUNT + i) ? weight : 0.0;
    }
}

static uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

static void draw_reclaimers(struct swarm_config *config, struct random_stream *random)
{
    uint32_t reclaimers =
        draw_count(random, 0, 7) == 0 ? 0 : draw_count(random, 1, SWARM_RECLAIMERS_MAX);
    config->reclaimers = at_most(reclaimers, config->limits.reclaimers);
    config->behind = draw_count(random, 0, 1) == 0 ? 0 : draw_count(random, 0, BEHIND_MOST);
    config->reclaim_gap_ns =
        swarm_draw_ns(random, (double)units(config, 0.1), (double)units(config, 30));
    config->grace_ns = draw_count(random, 0, 1) ? 0 : units(config, draw_magnitude(random, 1, 100));
    config->deletes_max = draw_count(random, 1, 8);
}

static void draw_ranks(struct swarm_config *config, struct random_stream *random)
{
    /* Without ranks nothing is reclaimed: such worlds are few. */
    uint32_t ranks = draw_count(random, 0, 9) == 0 ? 0 : draw_count(random, 1, SWARM_RANKS_MAX);
    config->ranks = at_most(ranks, config->limits.ranks);
    if (draw_count(random, 0, 1) == 0)
        config->mesh = (struct tgb_mesh){draw_count(random, 1, 3), draw_count(random, 1, 2)};
    config->step_ns = units(config, draw_magnitude(random, 0.01, 10));
    config->checkpoint_steps = draw_count(random, 1, 12);
    config->checkpoints_kept = draw_count(random, 1, 4);
    config->save_ns = units(config, draw_magnitude(random, 0.1, 30));
    bool late = draw_count(random, 0, LATE_SHARE - 1) == 0;
    uint32_t rank = draw_count(random, 0, SWARM_RANKS_MAX - 1);
    config->late_rank = late && rank < config->ranks ? rank : UINT32_MAX;
    config->late_ns = (int64_t)((double)config->phase1_ns * draw_between(random, 0.0, 0.6));
}

void swarm_config_draw(struct swarm_config *config, const struct swarm_limits *limits)
{
    struct random_stream random = random_stream_make(limits->seed ^ WORLD_DOMAIN, 0);
    *config = (struct swarm_config){.limits = *limits};
    config->unit_ns = swarm_draw_ns(&random, 0.2 * NS_PER_MS, 4.0 * NS_PER_S);
    uint32_t most = draw_count(&random, 0, 3) == 0 ? 2 : SWARM_PRODUCERS_MAX;
    config->producers = at_most(draw_count(&random, 1, most), limits->producers);
    config->entry_bytes = draw_count(&random, 0, 1) ? MANIFEST_ENTRY_BYTES_MIN : ENTRY_BYTES_MOST;
    struct random_stream entries = random_stream_make(limits->seed ^ ENTRY_DOMAIN, 0);
    config->entries_differ = draw_count(&entries, 0, 1);
    config->bytes = draw_count(&random, 0, 2) == 0;
    double length = draw_magnitude(&random, 100, 5000) * (double)limits->percent / 100.0;
    config->phase1_ns = units(config, length);
    config->bound_ns = units(config, 60000);
    draw_reclaimers(config, &random);
    draw_ranks(config, &random);
    bool wrong = random_unit(&random) < 0.5 && allowed(config, FAULT_KIND_COUNT + UPSET_JUMP);
    config->clock_spread_ns = wrong ? 20000 * NS_PER_S : 0;
    config->apply_fraction = random_unit(&random);
    config->sigma = draw_between(&random, 0.0, 1.2);
    draw_upsets(config, &random);
    draw_plan(config);
}

/* Lives of one producer differ, too: each may have been started with another config. */
static uint32_t draw_entry_bytes(const struct swarm_config *config, uint32_t life)
{
    struct random_stream random = random_stream_make(config->limits.seed ^ ENTRY_DOMAIN, 1 + life);
    if (config->entries_differ == 0)
        return config->entry_bytes;
    return draw_count(&random, MANIFEST_ENTRY_BYTES_MIN, ENTRY_BYTES_MOST);
}

static void draw_policy(const struct swarm_config *config, struct random_stream *random,
                        struct producer_options *options)
{
    size_t count = 0;
    while (policy_kind_at(count) != NULL)
        count++;
    const struct policy_kind *kind = policy_kind_at(random_next(random) % count);
    options->policy_kind = kind;
    for (size_t i = 0; i < policy_parameter_count(kind); i++) {
        const struct policy_parameter *parameter = &kind->parameters[i];
        double value = parameter->value_default;
        if (parameter->unit == PARAMETER_DURATION)
            value = (double)config->unit_ns / 1e9 * draw_magnitude(random, 0.1, 20);
        if (parameter->unit == PARAMETER_CHOICE)
            value = (double)draw_count(random, 0, (uint32_t)parameter->value_max);
        value = value < parameter->value_min ? parameter->value_min : value;
        options->policy_values[i] = value > parameter->value_max ? parameter->value_max : value;
    }
}

void swarm_config_producer(const struct swarm_config *config, uint32_t producer, uint32_t life,
                           struct producer_options *options)
{
    struct random_stream random = random_stream_make(config->limits.seed ^ LIFE_DOMAIN, life);
    uint32_t slices = tgb_mesh_slices(config->mesh);
    bool lists = draw_count(&random, 0, 1) == 0;
    bool runs_inline = draw_count(&random, 0, 1) == 0;
    *options = (struct producer_options){
        .commit = {.producer = producer,
                   .entry_bytes = draw_entry_bytes(config, life),
                   .incarnation = random_incarnation(&random),
                   .find = lists ? COMMIT_FIND_LIST : COMMIT_FIND_PROBE,
                   .active_versions = draw_count(&random, 1, 200),
                   .retry_ns = units(config, draw_magnitude(&random, 0.1, 1)),
                   .retry_max_ns = units(config, draw_magnitude(&random, 20, 40))},
        .mode = runs_inline ? PRODUCER_INLINE : PRODUCER_BACKGROUND,
        .first_gap_ns = units(config, draw_magnitude(&random, 0.1, 20)),
        .gap_max_ns = units(config, 100),
        .gap_jitter = random_unit(&random),
        .batch_bytes =
            draw_count(&random, 1, 300) + (slices > 0 ? tgb_layout_object_bytes(slices, 1) : 0),
        .batch_ns = units(config, draw_magnitude(&random, 0.05, 8)),
        .batch_jitter = random_unit(&random),
        .uploads_max = draw_count(&random, 1, 8),
        .batches_max = draw_count(&random, 2, 60),
    };
    draw_policy(config, &random, options);
    options->random = random_stream_make(config->limits.seed ^ LIFE_DOMAIN, 1000 + life);
}

void swarm_config_rank(const struct swarm_config *config, uint32_t rank, uint32_t life,
                       struct consumer_options *options)
{
    struct random_stream random = random_stream_make(config->limits.seed ^ RANK_DOMAIN, life);
    uint32_t slices = tgb_mesh_slices(config->mesh);
    int64_t retry_ns = units(config, draw_magnitude(&random, 0.1, 1));
    int64_t retry_max_ns = units(config, draw_magnitude(&random, 20, 40));
    *options = (struct consumer_options){
        .membership = {.consumer = rank,
                       .identity = random_incarnation(&random),
                       .retry_ns = retry_ns,
                       .retry_max_ns = retry_max_ns},
        .random = random_stream_make(config->limits.seed ^ RANK_DOMAIN, RANK_STREAMS + life),
        .slices = slices,
        .slice = slices > 0 ? rank % slices : 0,
        .prefetch_bytes = (uint64_t)draw_magnitude(&random, 10, 5000),
        .fetches_max = draw_count(&random, 1, 8),
        .fetch_retries = PATIENCE,
        .lookahead = draw_count(&random, 1, 12),
        .poll_min_ns = units(config, draw_magnitude(&random, 0.2, 5)),
        .poll_max_ns = units(config, draw_magnitude(&random, 5, 60)),
        .poll_smoothing = CONSUMER_POLL_SMOOTHING,
        .poll_early = CONSUMER_POLL_EARLY,
        .poll_jitter = CONSUMER_POLL_JITTER,
        .retry_ns = retry_ns,
        .retry_max_ns = retry_max_ns,
        .checkpoints_kept = config->checkpoints_kept,
    };
}

void swarm_config_reclaimer(const struct swarm_config *config, uint32_t life,
                            struct reclaim_options *options)
{
    struct random_stream random = random_stream_make(config->limits.seed ^ RECLAIM_DOMAIN, life);
    *options = (struct reclaim_options){
        .random = random_stream_make(config->limits.seed ^ RECLAIM_DOMAIN, RANK_STREAMS + life),
        .retry_ns = units(config, draw_magnitude(&random, 0.1, 1)),
        .retry_max_ns = units(config, draw_magnitude(&random, 20, 40)),
        .mode = RECLAIM_DELETE,
        .ranks = config->ranks,
        .behind = config->behind,
        .grace_ns = config->grace_ns,
        .marker_grace_ns = units(config, draw_magnitude(&random, 20, 500)),
        .full_every = draw_count(&random, 1, 3),
        .deletes_max = config->deletes_max,
    };
    /* Others were started with other flags: then their floors cross, in version and step. */
    if (draw_count(&random, 0, 1) == 0)
        options->behind = draw_count(&random, 0, BEHIND_MOST);
}
