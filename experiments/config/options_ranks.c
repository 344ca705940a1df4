/* options_ranks.c - the rows of ranks.* and reclaim.*, and what happens to them. */
#include "core/consumer.h"
#include "core/reclaim.h"
#include "experiments/config/options_rows.h"

static const struct option rows[] = {
    {"run.incidents", UNIT_TEXT, 0, "", 0, CONFIG_PATH_MAX, NULL,
     "what is made to happen in a simulated run, as producer:0-1@60s+20s,rank:2@2min+5s,"
     "rollback:0-7@3min+5s,outage@4min+15s",
     FIELD(run.incidents)},
    {"run.outage_errors", UNIT_RATIO, 0, "0.5", 0, 1, NULL,
     "ASSUMED: share of the requests in an outage that are answered by an error; the others are "
     "never answered [run.outage_errors]",
     FIELD(run.outage_errors)},
    {"run.outage_timeout", UNIT_DURATION, 0, "2s", SECONDS(1e-3), HOUR, NULL,
     "ASSUMED: a request that is never answered is given up after so long [run.outage_timeout]",
     FIELD(run.outage_timeout_ns)},

    {"ranks.count", UNIT_COUNT, 0, "0", 0, CONFIG_RANKS_MAX, NULL,
     "ranks of a simulated training job, one for each slice of tgb.mesh; without a mesh each reads "
     "whole TGBs",
     FIELD(ranks.count)},
    {"ranks.start", UNIT_DURATION, 0, "0s", 0, 10000 * HOUR, NULL,
     "when the ranks start, after the producers", FIELD(ranks.start_ns)},
    {"ranks.step", UNIT_DURATION, 0, "0s", 0, HOUR, NULL,
     "ASSUMED: how long a rank uses one step before it takes the next [ranks.step]",
     FIELD(ranks.step_ns)},
    {"ranks.jitter", UNIT_RATIO, 0, "0.1", 0, 1, NULL,
     "ASSUMED: that time varies uniformly by this share, up and down [ranks.jitter]",
     FIELD(ranks.jitter)},
    {"ranks.checkpoint_every", UNIT_COUNT, 0, "100", 0, 1e9, NULL,
     "ASSUMED: steps between two checkpoints of a rank; 0: none [ranks.checkpoint_every]",
     FIELD(ranks.checkpoint_every)},
    {"ranks.checkpoints_kept", UNIT_COUNT, 0, "3", 1, CHECKPOINTS_MAX, NULL,
     "ASSUMED: checkpoints that a rank can go back to [ranks.checkpoints_kept]",
     FIELD(ranks.checkpoints_kept)},
    {"ranks.save", UNIT_DURATION, 0, "1s", 0, HOUR, NULL,
     "ASSUMED: a checkpoint is durable after up to so long [ranks.save]", FIELD(ranks.save_ns)},
    {"ranks.prefetch", UNIT_BYTES, 0, "256MiB", 1, 1e15, NULL,
     "ASSUMED: slices that a rank holds or is fetching, before they are used [ranks.prefetch]",
     FIELD(ranks.prefetch_bytes)},
    {"ranks.fetches", UNIT_COUNT, 0, "32", 1, CONSUMER_FETCHES_MAX, NULL,
     "ASSUMED: slices, at most, that a rank is fetching or holds; and known steps ahead of it, "
     "below which it looks for new ones [ranks.fetches]",
     FIELD(ranks.fetches)},
    {"ranks.poll_min", UNIT_DURATION, 0, "10ms", SECONDS(1e-6), HOUR, NULL,
     "ASSUMED: a rank looks for new steps at the pace at which they come, at most so often "
     "[ranks.poll_min]",
     FIELD(ranks.poll_min_ns)},
    {"ranks.poll_max", UNIT_DURATION, 0, "2s", SECONDS(1e-6), HOUR, NULL,
     "ASSUMED: ranks look for new steps at least so often [ranks.poll_max]",
     FIELD(ranks.poll_max_ns)},
    {"ranks.poll_smoothing", UNIT_COUNT, 0, "8", 1, 1e6, NULL,
     "ASSUMED: weight of the newest version in that pace, one in so many [ranks.poll_smoothing]",
     FIELD(ranks.poll_smoothing)},
    {"ranks.poll_early", UNIT_COUNT, 0, "8", 1, 1e6, NULL,
     "ASSUMED: a rank looks one part in so many of the pace before a version is due "
     "[ranks.poll_early]",
     FIELD(ranks.poll_early)},
    {"ranks.poll_jitter", UNIT_RATIO, 0, "0.1", 0, 1, NULL,
     "ASSUMED: the time of a look varies uniformly by this share, up and down [ranks.poll_jitter]",
     FIELD(ranks.poll_jitter)},

    {"reclaim.count", UNIT_COUNT, 0, "0", 0, CONFIG_RECLAIMERS_MAX, NULL,
     "processes that reclaim storage in a simulated run; 0: nothing is ever deleted",
     FIELD(reclaim.count)},
    {"reclaim.period", UNIT_DURATION, 0, "60s", SECONDS(1e-3), 24 * HOUR, NULL,
     "ASSUMED: from the end of a round of reclamation to the next [reclaim.period]",
     FIELD(reclaim.period_ns)},
    {"reclaim.jitter", UNIT_RATIO, 0, "0.5", 0, 1, NULL,
     "ASSUMED: that time varies uniformly by this share, up and down [reclaim.jitter]",
     FIELD(reclaim.jitter)},
    {"reclaim.behind", UNIT_COUNT, 0, "4", 0, 1e9, NULL,
     "ASSUMED: versions of the manifest that stay, behind the newest [reclaim.behind]",
     FIELD(reclaim.behind)},
    {"reclaim.grace", UNIT_DURATION, 0, "60s", 0, 1000 * HOUR, NULL,
     "ASSUMED: TGBs that were made less than so long ago stay for a later round [reclaim.grace]",
     FIELD(reclaim.grace_ns)},
    {"reclaim.marker_grace", UNIT_DURATION, 0, "5min", 0, 1000 * HOUR, NULL,
     "ASSUMED: floors and intents that were replaced so long ago are deleted "
     "[reclaim.marker_grace]",
     FIELD(reclaim.marker_grace_ns)},
    {"reclaim.full_every", UNIT_COUNT, 0, "10", 1, 1e6, NULL,
     "ASSUMED: rounds, of which one lists all TGBs and the others only the oldest "
     "[reclaim.full_every]",
     FIELD(reclaim.full_every)},
    {"reclaim.deletes", UNIT_COUNT, 0, "32", 1, RECLAIM_DELETES_MAX, NULL,
     "ASSUMED: deletions at once of one process [reclaim.deletes]", FIELD(reclaim.deletes)},
};

struct option_rows option_rows_of_ranks(void)
{
    return (struct option_rows){rows, sizeof(rows) / sizeof(rows[0])};
}
