/* order_hold.h - keeps reclaimers from steps that a witness of the order has not written down yet:
 * the membership machine of core/membership.h on a session, one operation at a time. Ours. */
#ifndef EXPERIMENTS_ORDER_HOLD_H
#define EXPERIMENTS_ORDER_HOLD_H

#include "core/membership.h"
#include "experiments/consume/order_file.h"
#include "experiments/live/live_session.h"

struct order_hold {
    struct live_session *session; /* borrowed */
    struct membership membership;
};

/* Takes a number of this consumer and holds everything from *step on; 0: from the first step that
 * nobody gives up, which is written back. Blocks. False: it is refused or could not be stored;
 * `error` says why. Deinit the hold either way. */
MUST_USE bool order_hold_begin(struct order_hold *hold, struct live_session *session,
                               uint32_t consumer, uint64_t *step, char error[ORDER_FILE_TEXT_MAX]);
/* Lets go of the steps below this one, which are written down durably. False: it is not this
 * process's any more, or could not be stored. */
MUST_USE bool order_hold_raise(struct order_hold *hold, uint64_t step,
                               char error[ORDER_FILE_TEXT_MAX]);
void order_hold_deinit(struct order_hold *hold);

#endif
