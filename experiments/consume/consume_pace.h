/* consume_pace.h - how far the checkpoints of each rank of a call are durable, in memory that the
 * call's processes share: a rank drops a checkpoint only once all ranks have the next one, so there
 * is always a step that all keep, wherever they are killed. Ours (docs/data_plane.md, "running
 * it"). */
#ifndef EXPERIMENTS_CONSUME_PACE_H
#define EXPERIMENTS_CONSUME_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base.h"

struct consume_pace;

/* Before the processes are forked, for so many ranks, none of which has saved anything. */
struct consume_pace *consume_pace_open(uint32_t count);
void consume_pace_close(struct consume_pace *pace);

/* By the rank with this index: its checkpoint at `step` is durable, and its newest. */
void consume_pace_tell(struct consume_pace *pace, uint32_t index, uint64_t step);
/* Whether every rank has told this step, or a later one, last. */
MUST_USE bool consume_pace_reached(const struct consume_pace *pace, uint64_t step);

#endif
