/* given_files.h - files that a person names, to be committed as batches: one file, one TGB. */
#ifndef EXPERIMENTS_GIVEN_FILES_H
#define EXPERIMENTS_GIVEN_FILES_H

#include <stdbool.h>

#include "core/base.h"
#include "core/store.h"

#define GIVEN_FILE_BYTES_MAX (UINT64_C(5) << 30) /* as S3: the largest body of one PUT */
#define GIVEN_FILES_TEXT_MAX 768

struct given_files {
    size_t count;
    char **paths;    /* borrowed */
    uint64_t *sizes; /* owned */
};

/* Looks at every file; blocks. False: one of them cannot be a batch, `error` says which and why,
 * and nothing is left to free. */
MUST_USE bool given_files_open(char **paths, size_t count, struct given_files *files,
                               char error[GIVEN_FILES_TEXT_MAX]);
/* Also allowed on zeroed ones. */
void given_files_close(struct given_files *files);

/* The whole file, to be freed by the caller. Blocks; may be called by any thread. NULL: it cannot
 * be read, or has not the size any more that it had when it was looked at. */
uint8_t *given_files_read(const struct given_files *files, size_t index,
                          char error[STORE_ERROR_MAX]);

#endif
