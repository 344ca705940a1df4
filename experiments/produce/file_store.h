/* file_store.h - a store over a store: a TGB that is only a length becomes that of a given
 * file, chosen by the sequence in its key. Everything else passes through. Ours.
 *
 * Files are read on the loop's workers, whole, one for each upload in flight; what is sent again is
 * read again, and must be the same bytes. What cannot be read, or changed, is FAILED. */
#ifndef EXPERIMENTS_FILE_STORE_H
#define EXPERIMENTS_FILE_STORE_H

#include "backend/live_loop.h"
#include "experiments/produce/given_files.h"

/* Borrows all; `inner` takes bytes. Closed by store_close, with nothing in flight. */
struct store *file_store_open(struct store *inner, struct live_loop *loop,
                              const struct given_files *files);
/* The sequence of the first file. Before the first TGB. */
void file_store_begin(struct store *store, uint64_t first_sequence);

#endif
