/* mark.h - what a floor or an intent says about steps, and whether it can be believed.
 *
 * Method: ours (docs/data_plane.md, "start"). Reclaimers give up only steps that a version names.
 * So a mark is at or below the end of any chain that was read after it; one above it was written by
 * somebody who never read this chain. */
#ifndef CORE_MARK_H
#define CORE_MARK_H

#include <stdbool.h>

#include "core/store.h"

#define MARK_TEXT_MAX STORE_ERROR_MAX

enum mark_kind {
    MARK_FLOOR,
    MARK_INTENT,
};

/* Steps below `step` are given up, or about to be. */
struct mark {
    enum mark_kind kind;
    uint64_t step;
};

/* Whether a chain that was read after the mark, and whose next step is `next_step`, bears it out.
 * False: `text` names the mark's key and the chain's end, and says what to do. */
MUST_USE bool mark_borne_out(struct mark mark, uint64_t next_step, char text[MARK_TEXT_MAX]);

#endif
