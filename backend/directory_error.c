/* directory_error.c - what the directory store says when the file system refuses: what, which key,
 * what to do. Ours. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/directory_private.h"

#define PATH_SHOWN 64 /* bytes of a store's path in a message; the end says most */

/* What a person can do about an errno. */
static const char *advice_on(int error)
{
    switch (error) {
    case ENOSPC:
        return "free space or inodes there";
    case EDQUOT:
        return "raise the quota or remove files there";
    case EROFS:
        return "remount it writable, or use another directory";
    case EACCES:
    case EPERM:
        return "give this user the permission, or use another directory";
    case EIO:
        return "look at the disk and the kernel log";
    case ENOTDIR:
        return "something on that path is not a folder: use another directory";
    case EISDIR:
        return "something that is not a file has that object's name: look at it";
    case ENOENT:
        return "do not remove folders of a store in use";
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files (ulimit -n)";
    case ENOMEM:
        return "free memory";
    case ESTALE:
    case ETIMEDOUT:
        return "look at the file server and its mount";
    case EINVAL:
    case ENOSYS:
    case EOPNOTSUPP:
        return "this file system cannot do it: use a directory on ext4, xfs, NFS or Lustre";
    case ENAMETOOLONG:
        return "use a shorter path";
    default:
        return "look at that directory and the kernel log";
    }
}

/* The same before the store is there. */
static const char *advice_on_open(int error)
{
    return error == ENOENT ? "no folder can be made there: use another directory"
                           : advice_on(error);
}

static void format_error(const char *path, const char *what, const char *reason, const char *advice,
                         char text[STORE_ERROR_MAX])
{
    size_t bytes = strlen(path);
    const char *dots = bytes > PATH_SHOWN ? "..." : "";
    const char *shown = bytes > PATH_SHOWN ? path + bytes - PATH_SHOWN : path;
    int written =
        snprintf(text, STORE_ERROR_MAX, "%s%s: %s: %s; %s", dots, shown, what, reason, advice);
    assert(written > 0); /* the end is cut off when it is longer */
}

void directory_answer_error(struct job *job, enum store_outcome outcome, const char *action,
                            int error)
{
    assert(outcome == STORE_FAILED || outcome == STORE_UNKNOWN);
    assert(error != 0);
    char what[STORE_KEY_MAX + 64];
    int written = snprintf(what, sizeof(what), "cannot %s \"%s\"", action, job->op->key);
    assert(written > 0);
    job->outcome = outcome;
    char reason[64];
    format_error(job->directory->path, what, strerror_r(error, reason, sizeof(reason)),
                 advice_on(error), job->error);
}

void directory_answer_unfit(struct job *job, const char *words)
{
    char what[STORE_KEY_MAX + 64];
    int written = snprintf(what, sizeof(what), "\"%s\" is not read", job->op->key);
    assert(written > 0);
    job->outcome = STORE_FAILED;
    job->damaged = true;
    format_error(job->directory->path, what, words, "damaged, or another version's: restore it",
                 job->error);
}

void directory_open_error(const char *path, const char *action, int error,
                          char text[STORE_ERROR_MAX])
{
    char what[64];
    int written = snprintf(what, sizeof(what), "cannot %s", action);
    assert(written > 0);
    char reason[64];
    format_error(path, what, strerror_r(error, reason, sizeof(reason)), advice_on_open(error),
                 text);
}
