/* given_files.h - files that a person names, to be committed as batches: one file, one TGB; plain,
 * or sliced (core/tgb.h): of n slices, each but the last ones holds size / n bytes, rounded up. */
#ifndef EXPERIMENTS_GIVEN_FILES_H
#define EXPERIMENTS_GIVEN_FILES_H

#include <stdbool.h>

#include "core/base.h"
#include "core/store.h"
#include "core/tgb_object.h"

#define GIVEN_FILE_BYTES_MAX (UINT64_C(5) << 30) /* as S3: the largest body of one PUT */
#define GIVEN_FILES_TEXT_MAX 768

struct given_files {
    size_t count;
    char **paths;    /* borrowed */
    uint64_t *sizes; /* owned */
    struct tgb_mesh mesh;
    int level;           /* of zstd for slices; 0: none */
    uint64_t *tgb_bytes; /* owned: of each one's TGB */
};

/* Looks at every file; blocks. False: one of them cannot be a batch, `error` says which and why,
 * and nothing is left to free. */
MUST_USE bool given_files_open(char **paths, size_t count, struct given_files *files,
                               char error[GIVEN_FILES_TEXT_MAX]);
/* How they become TGBs, which are plain before: sets tgb_bytes. With a level it reads and
 * compresses every file, as a TGB's size is fixed before it is uploaded. Blocks. False: one of them
 * cannot be cut so, `error` says which and why. */
MUST_USE bool given_files_slice(struct given_files *files, struct tgb_mesh mesh, int level,
                                char error[GIVEN_FILES_TEXT_MAX]);
/* Also allowed on zeroed ones. */
void given_files_close(struct given_files *files);

/* The TGB of a file, to be freed by the caller; `name` is its own. Blocks; may be called by any
 * thread. NULL: it cannot be read, or has not the size any more that it had when it was looked at.
 */
uint8_t *given_files_tgb(const struct given_files *files, size_t index, const struct tgb_name *name,
                         char error[STORE_ERROR_MAX]);

#endif
