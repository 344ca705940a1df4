/* checkpoint_file.h - a rank's checkpoints, durable: one small JSON file for each rank in a folder.
 *
 * A save replaces the whole file in one step (a temporary file, fsync, rename, fsync of the
 * folder): a reader finds the old set or the new one. Processes of one rank that save in one folder
 * take turns by a lock (rank-N.json.lock, flock), and one whose set is of a lower number than the
 * file's is refused: a newer process saved there. A process that is killed while it saves may leave
 * rank-N.json.new, which nobody reads and the next save takes. The file names the run, the rank and
 * the number of slices, so that another's is refused. Everything blocks. Ours. */
#ifndef EXPERIMENTS_CHECKPOINT_FILE_H
#define EXPERIMENTS_CHECKPOINT_FILE_H

#include <stdbool.h>

#include "core/checkpoint.h"

#define CHECKPOINT_FILE_TEXT_MAX 640
#define CHECKPOINT_FILE_RUN_MAX 64
#define CHECKPOINT_FILE_BYTES_MAX 65536 /* more is not read */

/* What the checkpoints are about. Texts are borrowed. */
struct checkpoint_file {
    const char *folder;
    const char *run; /* the identity in the run's marker */
    uint32_t rank;
    uint32_t slices;   /* of a TGB */
    const char *token; /* that its rank was started with; NULL: none. A save writes it down */
};

/* Makes the folder, and those above it. False: `error` says why. */
MUST_USE bool checkpoint_file_prepare(const char *folder, char error[CHECKPOINT_FILE_TEXT_MAX]);
/* No file is an empty set. False: it cannot be read, is damaged, or is another job's; `error` says
 * which file and what to do. */
MUST_USE bool checkpoint_file_load(const struct checkpoint_file *file, struct checkpoint_set *set,
                                   char error[CHECKPOINT_FILE_TEXT_MAX]);

/* Whether a process that was started with file->token, which is not NULL, saved what is there. A
 * file that cannot be read is nobody's. */
MUST_USE bool checkpoint_file_is_by_token(const struct checkpoint_file *file);

/* What such a file holds. */
struct checkpoint_text {
    const char *name; /* of the file, for messages */
    const char *text; /* need not end with a NUL */
    size_t bytes;
};

/* The same of a file that was read: pure. */
MUST_USE bool checkpoint_file_parse(const struct checkpoint_file *file,
                                    const struct checkpoint_text *text, struct checkpoint_set *set,
                                    char error[CHECKPOINT_FILE_TEXT_MAX]);
/* What a save writes, at most CHECKPOINT_FILE_BYTES_MAX. The caller frees it. */
char *checkpoint_file_print(const struct checkpoint_file *file, const struct checkpoint_set *set);

enum checkpoint_save {
    CHECKPOINT_SAVE_DONE,    /* durable */
    CHECKPOINT_SAVE_REFUSED, /* the file holds the set of a newer process, and stays */
    CHECKPOINT_SAVE_FAILED,  /* the file holds the old set or the new one; `error` says why */
};

/* Waits for the lock for 10 s at most. */
MUST_USE enum checkpoint_save checkpoint_file_save(const struct checkpoint_file *file,
                                                   const struct checkpoint_set *set,
                                                   char error[CHECKPOINT_FILE_TEXT_MAX]);

#endif
