/* plane_recorder.h - what the ranks and the reclaimers of a simulated run did, and what was stored
 * from time to time.
 *
 * Beside recorder.h, which is about producers. One for each run; it belongs to one thread; nothing
 * blocks; allocation failure aborts. What a rank needs is its slice of every step that it is given:
 * the bytes in it, without the slice's header; of a plain TGB, which every rank reads whole, the
 * share of one rank. */
#ifndef EXPERIMENTS_PLANE_RECORDER_H
#define EXPERIMENTS_PLANE_RECORDER_H

#include "experiments/config/config.h"
#include "experiments/results/run_results.h"
#include "sim/simulation.h"

#define PLANE_SHOWN_MAX 16 /* ranks, and producers, that have series of their own */

struct plane_recorder;

/* The config is borrowed. Free it by plane_recorder_close. */
struct plane_recorder *plane_recorder_open(const struct config *config);
void plane_recorder_close(struct plane_recorder *recorder); /* NULL is allowed */

/* The recorder must outlive its users. */
struct rank_observer plane_recorder_ranks(struct plane_recorder *recorder);
struct reclaim_actors_observer plane_recorder_reclaimers(struct plane_recorder *recorder);
/* Samples come once each run.bin, and at the end. */
void plane_recorder_sample(struct plane_recorder *recorder, const struct simulation_sample *sample);
/* A producer reports a batch as visible. */
void plane_recorder_visible(struct plane_recorder *recorder, uint32_t producer);
/* A rank as it is when the run is over. */
void plane_recorder_rank_end(struct plane_recorder *recorder, const struct consumer *consumer);

/* Derives all metrics and series; adds to what `results` holds.
 *
 * Metrics of ranks, all together, over [warm-up, end), where the run has any: ranks_given (steps),
 * replayed_steps (of those, that the rank had been given before), skipped_steps (that it was not
 * given in between),
 * ranks_needed_bytes, ranks_slice_bytes, ranks_chain_bytes and ranks_control_bytes (of the answers
 * to requests for slices, for listings and manifests, for the ranks' own numbers and values),
 * ranks_slice_requests, ranks_chain_requests, ranks_control_requests, requests_per_step (of all
 * kinds, for a step that is given to one rank), read_amplification (bytes of slices, without what
 * was fetched ahead when the run ended, over those needed), chain_amplification (bytes of manifests
 * over those needed), slice_median_s and slice_p95_s (of one request for a slice), checkpoints,
 * unread_steps_mean and unread_steps_max (committed, and not given to all ranks, in the samples),
 * behind_steps_mean and behind_steps_max (the same of TGBs stored, committed or not).
 *
 * Metrics of reclaimers, all together, over the whole run, where it has any: reclaim_rounds,
 * reclaim_requests, reclaim_bytes (of their requests), reclaimed_tgbs, reclaimed_tgb_bytes,
 * reclaimed_versions, reclaimed_version_bytes, reclaim_failed (rounds that did not come to their
 * end).
 *
 * Metrics of what is stored, over the whole run: stored_bytes_max, tgb_bytes_max, and at the end
 * stored_bytes, tgb_bytes, manifests_bytes, committed_steps, live_steps, floor_step.
 *
 * Series, at the time of each sample: stored_bytes (all TGBs, versions and floors), tgb_bytes,
 * committed_steps, live_steps (in the newest version), floor_step, and with ranks given_steps (to
 * the slowest), given (since the sample before, to all ranks together), and of at most
 * PLANE_SHOWN_MAX ranks rank_<r>_steps, where each is; of at most so many producers
 * producer_<p>_batches, that it reported as visible. */
void plane_recorder_results(const struct plane_recorder *recorder, struct run_results *results);

#endif
