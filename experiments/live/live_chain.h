/* live_chain.h - the chain of a run as it is now, for what stands outside of the loop: the chain
 * reader of core on a session, one operation at a time. */
#ifndef EXPERIMENTS_LIVE_CHAIN_H
#define EXPERIMENTS_LIVE_CHAIN_H

#include "core/chain_reader.h"
#include "experiments/live/live_session.h"

/* Makes the reader ready; deinit it (chain_reader_deinit) whatever comes of it. */
void live_chain_init(struct live_session *session, struct chain_reader *reader);
/* One read; blocks, and nothing else may be in flight. CHAIN_CHANGED, _UNCHANGED, _EMPTY, or
 * CHAIN_FAILED: the reader says why. */
MUST_USE enum chain_effect_kind live_chain_read(struct live_session *session,
                                                struct chain_reader *reader);
/* The step that the next batch will have, by a read of its own; 1 where there is no chain. False:
 * `error` says why not. Blocks, as above. */
MUST_USE bool live_chain_end(struct live_session *session, uint64_t *next_step,
                             char error[STORE_ERROR_MAX]);

#endif
