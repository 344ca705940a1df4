/* chain_view.h - what a listing of manifest/ shows of the chain: its newest version, and how far it
 * was given up. Ours; the rules are "find" and "validate" of docs/protocol.md.
 *
 * Committers and readers share it, not the order of their requests: a committer validates after its
 * create (LIST, GET, PUT, LIST), a reader at once (LIST, GET, LIST).
 *
 * Of all floors seen each number counts by itself. Two reclaimers can pass each other, so that the
 * floor that sorts first gave up fewer steps than an older one; and what any of them gave up is
 * given up. For a validation only versions matter, and the highest one is on the first floor. */
#ifndef CORE_CHAIN_VIEW_H
#define CORE_CHAIN_VIEW_H

#include "core/name.h"
#include "core/store.h"

struct chain_view {
    uint64_t newest;    /* version listed; set by the user where a search begins */
    struct floor floor; /* highest seen, each number by itself; never falls */
    struct floor top;   /* the floor that sorts first of all seen */
};

/* Fill the op with a LIST: of what is newer than version `after` with the floors, or of the floors
 * alone. */
void chain_view_ask_newest(struct store_op *op, uint64_t after);
void chain_view_ask_floor(struct store_op *op);
/* Takes a page of either, and says what follows it: where a floor was on it, no version does. */
MUST_USE enum page_next chain_view_read(struct chain_view *view, struct store_op *op);

/* Fills the op with a GET of a version, whole, as long as its header says. */
void chain_view_ask_version(struct store_op *op, uint64_t version);
/* The version that was asked for and answered OK, whose reference is then the caller's; NULL: it is
 * none, `error` says so. */
MUST_USE struct manifest *chain_view_take_version(struct store_op *op, char error[STORE_ERROR_MAX]);

#endif
