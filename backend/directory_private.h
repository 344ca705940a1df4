/* directory_private.h - what the files of the directory store share. Functions on a struct job run
 * on a worker, block, and leave their answer in the job; the others are said to run elsewhere. */
#ifndef BACKEND_DIRECTORY_PRIVATE_H
#define BACKEND_DIRECTORY_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "backend/directory_key.h"
#include "backend/directory_store.h"

#define TEMP_NAME_MAX 192
#define TEMP_HOST_MAX 65
#define TEMP_BOOT_MAX 40
#define DURABLE_FOLDERS 256
#define FOLDER_TRIES_MAX 16 /* somebody else may remove a folder between making and using it */

/* Who makes temporary files: a process, in a way that other processes can tell whether it lives. */
struct temp_owner {
    char host[TEMP_HOST_MAX];
    char boot[TEMP_BOOT_MAX]; /* "-" if the system does not tell */
    uint64_t pid_namespace;   /* 0 if the system does not tell */
    pid_t pid;
};

/* Which folder it is: another of the same name may get the number of one that was removed. */
struct folder_identity {
    uint64_t inode;
    int64_t born_ns; /* 0 where the file system does not tell */
};

/* A folder whose chain of names up to the root was synced by this process. */
struct durable_folder {
    struct folder_identity identity; /* inode 0: unused */
    char path[DIRECTORY_PATH_MAX];
};

struct directory {
    struct store base;
    struct live_loop *loop;
    struct directory_options options;
    char *path; /* as it was given: for messages */
    int root_fd;
    int temp_fd; /* -1 with DIRECTORY_READ */
    struct temp_owner owner;
    atomic_uint_fast64_t temp_count;
    struct job *jobs; /* in flight; the loop thread's */
    pthread_mutex_t durable_mutex;
    struct durable_folder durable[DURABLE_FOLDERS]; /* direct mapped by hash */
};

struct job {
    struct work work; /* first */
    struct directory *directory;
    struct store_op *op; /* on the worker: the request part, read only */
    struct job *next;
    struct job *previous;
    char path[DIRECTORY_PATH_MAX];
    /* The answer, copied into the op in the loop. */
    enum store_outcome outcome;
    uint64_t object_bytes;
    struct body result;
    struct list_page page;
    bool damaged;
    char error[STORE_ERROR_MAX];
};

/* ---- directory_error.c ---- */

/* Answers UNKNOWN or FAILED: "<store>: cannot <action> <key>: <reason>; <advice>". */
void directory_answer_error(struct job *job, enum store_outcome outcome, const char *action,
                            int error);
/* Answers FAILED, and damaged: the object does not fit its bound, in those words. */
void directory_answer_unfit(struct job *job, const char *words);
/* The first for open. Any thread. */
void directory_open_error(const char *path, const char *action, int error,
                          char text[STORE_ERROR_MAX]);

/* ---- directory_folder.c ---- */

/* fsync, or nothing with DIRECTORY_NO_SYNC. 0 or an errno. Any thread. */
MUST_USE int directory_sync_fd(const struct directory *directory, int fd);
/* Syncs the folder that holds `path`, or the lowest above it that is there. 0 or an errno. */
MUST_USE int directory_sync_folder_of(const struct directory *directory, const char *path);
/* Removes the folder that holds `path` if it is empty and not at the top. */
void directory_folder_tidy(const struct directory *directory, const char *path);
/* Opens the folder that holds job->path, which is made if missing; its name and those above it are
 * durable then. 0 or an errno; *action says what failed. */
MUST_USE int directory_folder_open(struct job *job, int *folder_fd, const char **action);
/* The last component of a path. */
const char *directory_leaf(const char *path);

/* ---- directory_temp.c ---- */

/* Fills the owner with this process. Any thread; blocks briefly. */
void temp_owner_self(struct temp_owner *owner);
/* The next unused name of this process. */
void directory_temp_name(struct directory *directory, char name[TEMP_NAME_MAX]);
/* Removes what dead processes of this host left. Returns how many. `now_ns` is Unix time. */
uint32_t directory_temp_sweep(struct directory *directory, int64_t now_ns);

/* ---- directory_write.c ---- */

void directory_put(struct job *job);
void directory_delete(struct job *job);
/* 0, or an errno that a test wants. */
MUST_USE int directory_step_done(const struct directory *directory, enum directory_step step);

/* ---- directory_read.c, directory_list.c ---- */

void directory_get(struct job *job);
void directory_list(struct job *job);
/* Syncs the folder of job->path if the file with `names` names may not be durable. 0 or an errno.
 */
MUST_USE int directory_sync_if_fresh(const struct job *job, nlink_t names);

#endif
