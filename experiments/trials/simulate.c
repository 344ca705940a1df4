/* simulate.c - from a config to simulated runs in the database. */
#include "experiments/trials/simulate.h"

#include <stdlib.h>
#include <unistd.h>

#include "build_info.h"
#include "experiments/config/incident_list.h"
#include "experiments/trials/arm_record.h"
#include "experiments/trials/latency_config.h"
#include "experiments/trials/plane_recorder.h"
#include "experiments/trials/producer_config.h"
#include "experiments/trials/recorder_config.h"
#include "experiments/trials/runner.h"
#include "sim/object_table.h"

#define TGB_RESIDENT_BYTES 160

static void station_of(const struct station_config *config, struct station_options *options)
{
    options->cores = config->cores;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        options->work[verb] = (struct station_work){
            .base_ns = config->work_ns[verb],
            .byte_ns = config->work_rate[verb] > 0 ? 1e9 / config->work_rate[verb] : 0,
        };
}

#define FETCH_RETRIES                                                                              \
    64 /* as control requests and uploads have: an outage of minutes is waited for */

static void ranks_of(const struct config *config, struct rank_actors_options *ranks)
{
    const struct ranks_config *from = &config->ranks;
    const struct commit_config *commit = &config->commit;
    *ranks = (struct rank_actors_options){
        .count = (uint32_t)from->count,
        .start_ns = from->start_ns,
        .step_ns = from->step_ns,
        .step_jitter = from->jitter,
        .checkpoint_steps = from->checkpoint_every,
        .save_ns = from->save_ns,
        .consumer = {.membership = {.retry_ns = commit->retry_ns,
                                    .retry_max_ns = commit->retry_max_ns},
                     .slices = tgb_mesh_slices(config->mesh),
                     .prefetch_bytes = from->prefetch_bytes,
                     .fetches_max = (uint32_t)from->fetches,
                     .fetch_retries = FETCH_RETRIES,
                     .lookahead = (uint32_t)from->fetches,
                     .poll_min_ns = from->poll_min_ns,
                     .poll_max_ns = from->poll_max_ns,
                     .poll_smoothing = (uint32_t)from->poll_smoothing,
                     .poll_early = (uint32_t)from->poll_early,
                     .poll_jitter = from->poll_jitter,
                     .retry_ns = commit->retry_ns,
                     .retry_max_ns = commit->retry_max_ns,
                     .checkpoints_kept = (uint32_t)from->checkpoints_kept},
    };
}

static void reclaimers_of(const struct config *config, struct reclaim_actors_options *reclaimers)
{
    const struct reclaim_config *from = &config->reclaim;
    *reclaimers = (struct reclaim_actors_options){
        .count = (uint32_t)from->count,
        .first_ns = from->period_ns,
        .period_ns = from->period_ns,
        .jitter = from->jitter,
        .reclaim = {.retry_ns = config->commit.retry_ns,
                    .retry_max_ns = config->commit.retry_max_ns,
                    .ranks = (uint32_t)config->ranks.count,
                    .behind = from->behind,
                    .grace_ns = from->grace_ns,
                    .marker_grace_ns = from->marker_grace_ns,
                    .full_every = (uint32_t)from->full_every,
                    .deletes_max = (uint32_t)from->deletes},
    };
}

void simulate_options_of(const struct config *config, uint64_t seed,
                         struct simulation_options *options)
{
    *options = (struct simulation_options){
        .seed = seed,
        .producers = (uint32_t)config->workload.producers,
        .duration_ns = config->run.duration_ns,
        .store = {.apply_fraction = config->store.apply_fraction,
                  .read_fraction = config->store.read_fraction,
                  .create_queue = {.wait_ns = config->store.contention.wait_ns,
                                   .collision = config->store.contention.collision,
                                   .collision_ns = config->store.contention.collision_ns,
                                   .refused_early = config->store.contention.refused_early},
                  .client_bytes_per_s = config->store.client_bandwidth,
                  .store_bytes_per_s = config->store.bandwidth,
                  .puts_per_s = config->store.put_limit,
                  .gets_per_s = config->store.get_limit},
    };
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        latency_options_of(&config->store.latency[verb], &options->store.latency[verb]);
    station_of(&config->store.station, &options->store.station);
    producer_options_of(config, 0, seed, &options->producer);
    ranks_of(config, &options->ranks);
    reclaimers_of(config, &options->reclaimers);
}

/* ---- a run and those who watch it ---- */

struct watchers {
    struct recorder *recorder;
    struct producer_observer recorded; /* the recorder's */
    struct plane_recorder *plane;      /* NULL: neither ranks nor reclaimers */
};

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    const struct watchers *watchers = context;
    watchers->recorded.attempt(watchers->recorder, producer, attempt, detail);
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    const struct watchers *watchers = context;
    watchers->recorded.visible(watchers->recorder, producer, batch, visible_ns);
    plane_recorder_visible(watchers->plane, producer);
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    const struct watchers *watchers = context;
    watchers->recorded.request(watchers->recorder, producer, verb, outcome, bytes);
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    const struct watchers *watchers = context;
    watchers->recorded.ended(watchers->recorder, producer, end, text);
}

static void take_loop(void *context, struct loop *loop)
{
    recorder_set_loop(((struct watchers *)context)->recorder, loop);
}

static void note_invisible(void *context, const struct producer *producer)
{
    struct recorder *recorder = ((struct watchers *)context)->recorder;
    for (uint32_t i = 0; i < producer->queue.count; i++) {
        const struct batch *batch = batch_queue_at(&producer->queue, i);
        recorder_note_invisible(recorder, producer->options.commit.producer, batch->made_ns,
                                batch->bytes);
    }
}

static void note_sample(void *context, const struct simulation_sample *sample)
{
    plane_recorder_sample(((struct watchers *)context)->plane, sample);
}

static void note_rank(void *context, const struct consumer *consumer)
{
    plane_recorder_rank_end(((struct watchers *)context)->plane, consumer);
}

static bool has_plane(const struct config *config)
{
    return config->ranks.count > 0 || config->reclaim.count > 0;
}

static int watch(struct watchers *watchers, struct simulation_options *options,
                 struct run_results *results, char *error)
{
    struct recorder *recorder = watchers->recorder;
    struct simulation_result result;
    struct producer_observer both = {.context = watchers,
                                     .attempt = on_attempt,
                                     .visible = on_visible,
                                     .request = on_request,
                                     .ended = on_ended};
    struct rank_observer ranks;
    struct reclaim_actors_observer reclaimers;
    watchers->recorded = recorder_observer(recorder);
    options->observer = watchers->plane != NULL ? &both : &watchers->recorded;
    options->at_start = take_loop;
    options->at_end = note_invisible;
    options->context = watchers;
    if (watchers->plane != NULL) {
        ranks = plane_recorder_ranks(watchers->plane);
        reclaimers = plane_recorder_reclaimers(watchers->plane);
        options->rank_observer = &ranks;
        options->reclaim_observer = &reclaimers;
        options->sampled = note_sample;
        options->at_end_of_rank = note_rank;
    }
    simulation_run(options, &result);
    if (recorder_failed_producers(recorder) > 0) {
        snprintf(error, RUNNER_ERROR_MAX, "%u producers ended early: %s",
                 recorder_failed_producers(recorder), recorder_failure(recorder));
        return 1;
    }
    if (result.ranks_ended > 0) {
        snprintf(error, RUNNER_ERROR_MAX, "%u ranks ended early: %s", result.ranks_ended,
                 result.first_rank_end);
        return 1;
    }
    if (result.violations.count > 0) {
        snprintf(error, RUNNER_ERROR_MAX, "%llu violations, the first: %s",
                 (unsigned long long)result.violations.count, result.violations.first);
        return 1;
    }
    results->digest = result.digest;
    recorder_results(recorder, results);
    if (watchers->plane != NULL)
        plane_recorder_results(watchers->plane, results);
    run_results_add_metric(results, "events", "events", (double)result.handled);
    run_results_add_metric(results, "versions", "versions", (double)result.versions);
    return 0;
}

/* What a run without reclamation surely takes: every TGB has an object, a key, a slot and a place
 * in an index, for good. A run beyond the machine's memory would be killed after an hour. */
static bool fits_memory(const struct config *config, const struct simulation_options *options,
                        char *error)
{
    double tgbs = (double)options->duration_ns / (double)options->producer.batch_ns *
                  (double)options->producers;
    double needed = tgbs * (double)TGB_RESIDENT_BYTES;
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (config->reclaim.count > 0 || (needed <= memory && tgbs <= (double)OBJECT_TABLE_MAX))
        return true;
    snprintf(error, RUNNER_ERROR_MAX,
             "it makes %.3g TGBs and reclaims none: they take %.3g GB of memory at least, and this "
             "machine has %.3g GB; make run.duration or workload.producers smaller, workload.tgb "
             "larger, or let reclaimers run (reclaim.count, ranks.count)",
             tgbs, needed / 1e9, memory / 1e9);
    return false;
}

int simulate_once(const struct config *config, uint64_t seed, struct run_results *results,
                  char *error)
{
    struct simulation_options options;
    struct incident_list incidents;
    struct diagnostic diagnostic;
    simulate_options_of(config, seed, &options);
    options.sample_ns = config->run.bin_ns;
    if (!incident_list_parse(config->run.incidents, &incidents, &diagnostic)) {
        snprintf(error, RUNNER_ERROR_MAX, "run.incidents: %s", diagnostic.text);
        return 1;
    }
    options.outage = (struct outage){.errors = config->run.outage_errors,
                                     .timeout_ns = config->run.outage_timeout_ns};
    options.incidents = incidents.items;
    options.incident_count = incidents.count;
    const char *wrong = simulation_options_check(&options);
    if (wrong != NULL) {
        snprintf(error, RUNNER_ERROR_MAX, "the simulator cannot run this config: %s", wrong);
        return 1;
    }
    if (!fits_memory(config, &options, error))
        return 1;
    struct watchers watchers = {
        .recorder = recorder_of(config, 0),
        .plane = has_plane(config) ? plane_recorder_open(config) : NULL,
    };
    int status = watch(&watchers, &options, results, error);
    recorder_close(watchers.recorder);
    plane_recorder_close(watchers.plane);
    return status;
}

static int run_trial(const struct trial *trial, struct run_results *results, char *error)
{
    return simulate_once(trial->arm->context, trial->seed, results, error);
}

static uint64_t seeds_of(const struct config *config, const struct simulate_options *options)
{
    return options->seeds != 0 ? options->seeds : config->seeds;
}

int simulate_experiment(const struct experiment *experiment, const struct simulate_options *options)
{
    size_t count = 0;
    for (size_t i = 0; i < experiment->arm_count; i++)
        count += seeds_of(&experiment->arms[i].config, options);
    struct trial *trials = calloc(count, sizeof(*trials));
    struct arm_record *arms = calloc(experiment->arm_count, sizeof(*arms));
    assert(trials != NULL && arms != NULL);
    size_t next = 0;
    for (size_t i = 0; i < experiment->arm_count; i++) {
        const struct config *config = &experiment->arms[i].config;
        arm_record_init(&arms[i], &experiment->arms[i]);
        for (uint64_t seed = 0; seed < seeds_of(config, options); seed++)
            trials[next++] = (struct trial){.arm = &arms[i].arm, .seed = config->seed + seed};
    }
    struct runner_options runner = {
        .experiment = experiment->name,
        .mode = RESULTS_SIM,
        .commit = LAKESTREAM_COMMIT,
        .command = options->command,
        .repeat = options->repeat,
        .jobs = options->jobs,
        .db = options->db,
        .run = run_trial,
        .progress = options->progress,
    };
    int status = runner_run(&runner, trials, count, NULL);
    for (size_t i = 0; i < experiment->arm_count; i++)
        arm_record_deinit(&arms[i]);
    free(arms);
    free(trials);
    return status;
}
