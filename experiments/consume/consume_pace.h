/* consume_pace.h - how far the checkpoints of each rank of a job are durable: a rank drops one only
 * once all ranks have the next one, so there is always a step that all keep, wherever they are
 * killed. Known from memory that the processes of one call share, or from the files of ranks that
 * were started one by one. Ours (docs/data_plane.md, "running it"). */
#ifndef EXPERIMENTS_CONSUME_PACE_H
#define EXPERIMENTS_CONSUME_PACE_H

#include "experiments/consume/consume_job.h"

struct consume_pace;

/* Before the processes are forked, for so many ranks, none of which has saved anything. `files`:
 * the job whose files say it, borrowed; NULL: the processes tell each other. */
struct consume_pace *consume_pace_open(uint32_t count, const struct consume_job *files);
void consume_pace_close(struct consume_pace *pace);
/* Between two looks by who waits. */
int64_t consume_pace_look_ns(const struct consume_pace *pace);

/* By the rank with this index: its checkpoint at `step` is durable, and its newest. */
void consume_pace_tell(struct consume_pace *pace, uint32_t index, uint64_t step);
/* Whether every rank has saved this step, or a later one; else *behind is the index of the first
 * that has not. Blocks where it reads files. */
MUST_USE bool consume_pace_reached(struct consume_pace *pace, uint64_t step, uint32_t *behind);

#endif
