/* directory_write.c - PUT, PUT_IF_ABSENT and DELETE on a directory.
 *
 * Method: temporary file, write, fsync, name it by link(2) or rename(2), fsync the folder, remove
 * the temporary name (as maildir does). The temporary name stays until the folder was synced: a
 * file with two names tells everybody that its name may not be durable. Ours. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/directory_private.h"

#define WRITE_BYTES_MAX ((size_t)1 << 30) /* of one write(2) */
#define TEMP_NAME_TRIES_MAX 64            /* left over from a dead process of the same number */

const char *directory_step_text(enum directory_step step)
{
    static const char *const texts[] = {
#define X(code, text) text,
        DIRECTORY_STEPS(X)
#undef X
    };
    assert(step < DIRECTORY_STEP_COUNT);
    return texts[step];
}

int directory_step_done(const struct directory *directory, enum directory_step step)
{
    const struct directory_options *options = &directory->options;
    return options->after_step == NULL ? 0 : options->after_step(options->context, step);
}

/* ---- the temporary file ---- */

struct temp {
    int fd; /* -1: closed */
    ino_t inode;
    char name[TEMP_NAME_MAX];
};

static int temp_create(struct directory *directory, struct temp *temp)
{
    for (int tries = 1;; tries++) {
        directory_temp_name(directory, temp->name);
        temp->fd =
            openat(directory->temp_fd, temp->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (temp->fd >= 0)
            return directory_step_done(directory, DIRECTORY_STEP_TEMP_CREATED);
        if (errno != EEXIST || tries == TEMP_NAME_TRIES_MAX) {
            temp->name[0] = '\0';
            return errno;
        }
    }
}

static int write_whole(int fd, const uint8_t *data, uint64_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(fd, data, bytes < WRITE_BYTES_MAX ? bytes : WRITE_BYTES_MAX);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        if (written == 0)
            return EIO;
        data += written;
        bytes -= (uint64_t)written;
    }
    return 0;
}

static int temp_fill(const struct directory *directory, struct temp *temp, const struct body *body)
{
    /* In halves only for those who watch the steps. */
    uint64_t first = directory->options.after_step == NULL ? body->bytes : body->bytes / 2;
    int error = write_whole(temp->fd, body->data, first);
    if (error == 0)
        error = directory_step_done(directory, DIRECTORY_STEP_HALF_WRITTEN);
    if (error == 0 && body->bytes > first)
        error = write_whole(temp->fd, body->data + first, body->bytes - first);
    if (error == 0)
        error = directory_step_done(directory, DIRECTORY_STEP_WRITTEN);
    struct stat status;
    if (error == 0 && fstat(temp->fd, &status) != 0)
        error = errno;
    if (error == 0) {
        temp->inode = status.st_ino;
        error = directory_sync_fd(directory, temp->fd);
    }
    /* NFS reports a full disk or quota only here, if not at fsync. */
    if (close(temp->fd) != 0 && error == 0 && errno != EINTR)
        error = errno;
    temp->fd = -1;
    return error == 0 ? directory_step_done(directory, DIRECTORY_STEP_FILE_SYNCED) : error;
}

static void temp_remove(const struct directory *directory, struct temp *temp)
{
    if (temp->fd >= 0)
        close(temp->fd);
    temp->fd = -1;
    /* A failure leaves a file for the next sweep, and no other harm. */
    if (temp->name[0] != '\0' && unlinkat(directory->temp_fd, temp->name, 0) == 0)
        temp->name[0] = '\0';
}

/* ---- giving it its name ---- */

/* Whether a link or rename that reported an error was applied all the same. */
enum applied {
    APPLIED_NO,
    APPLIED_YES,
    APPLIED_UNKNOWN,
};

static enum applied link_applied(const struct directory *directory, const struct temp *temp)
{
    struct statx status;
    if (statx(directory->temp_fd, temp->name, AT_STATX_FORCE_SYNC | AT_SYMLINK_NOFOLLOW,
              STATX_NLINK, &status) != 0)
        return APPLIED_UNKNOWN;
    return status.stx_nlink >= 2 ? APPLIED_YES : APPLIED_NO;
}

static enum applied rename_applied(const struct temp *temp, int folder_fd, const char *leaf)
{
    struct statx status;
    if (statx(folder_fd, leaf, AT_STATX_FORCE_SYNC | AT_SYMLINK_NOFOLLOW, STATX_INO, &status) != 0)
        return errno == ENOENT ? APPLIED_NO : APPLIED_UNKNOWN;
    return status.stx_ino == temp->inode ? APPLIED_YES : APPLIED_NO;
}

/* Errors that a server gives instead of applying; after others the request may still be under way.
 */
static bool surely_refused(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EACCES:
    case EPERM:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EMLINK:
    case EEXIST:
    case ENAMETOOLONG:
    case EOPNOTSUPP:
        return true;
    default:
        return false;
    }
}

static void answer_exists(struct job *job)
{
    struct stat status;
    job->outcome = STORE_EXISTS;
    if (fstatat(job->directory->root_fd, job->path, &status, 0) != 0)
        return; /* deleted since: it existed */
    int error = directory_sync_if_fresh(job, status.st_nlink);
    if (error != 0)
        directory_answer_error(job, STORE_UNKNOWN, "sync the folder of existing", error);
}

enum naming {
    NAMING_DONE,
    NAMING_ANSWERED,    /* not named: the answer is set */
    NAMING_FOLDER_GONE, /* not named: the folder was empty, and somebody removed it */
};

static bool is_removed(int folder_fd)
{
    struct stat status;
    return fstat(folder_fd, &status) == 0 && status.st_nlink == 0;
}

static enum naming give_name(struct job *job, const struct temp *temp, int folder_fd)
{
    const struct directory *directory = job->directory;
    const char *leaf = directory_leaf(job->path);
    bool create = job->op->verb == STORE_PUT_IF_ABSENT;
    int failure = create ? linkat(directory->temp_fd, temp->name, folder_fd, leaf, 0)
                         : renameat(directory->temp_fd, temp->name, folder_fd, leaf);
    int error = failure == 0 ? 0 : errno;
    if (error == 0)
        error = directory_step_done(directory, DIRECTORY_STEP_NAMED);
    if (error == 0)
        return NAMING_DONE;

    enum applied applied =
        create ? link_applied(directory, temp) : rename_applied(temp, folder_fd, leaf);
    if (applied == APPLIED_YES)
        return NAMING_DONE;
    if (applied == APPLIED_NO && error == ENOENT && is_removed(folder_fd))
        return NAMING_FOLDER_GONE;
    if (applied == APPLIED_NO && create && error == EEXIST) {
        answer_exists(job);
    } else {
        enum store_outcome outcome =
            applied == APPLIED_NO && surely_refused(error) ? STORE_FAILED : STORE_UNKNOWN;
        directory_answer_error(job, outcome, create ? "link" : "rename to", error);
    }
    return NAMING_ANSWERED;
}

static bool exists_already(struct job *job)
{
    struct stat status;
    if (fstatat(job->directory->root_fd, job->path, &status, 0) != 0)
        return false; /* also on errors: what follows meets them again */
    answer_exists(job);
    return true;
}

/* It has its name. */
static void conclude(struct job *job, struct temp *temp, int folder_fd)
{
    const struct directory *directory = job->directory;
    if (job->op->verb == STORE_PUT)
        temp->name[0] = '\0'; /* renamed away */
    int error = directory_sync_fd(directory, folder_fd);
    if (error == 0)
        error = directory_step_done(directory, DIRECTORY_STEP_NAME_SYNCED);
    job->outcome = STORE_OK;
    if (error != 0) {
        temp->name[0] = '\0'; /* stays, and says so to readers: not durable */
        directory_answer_error(job, STORE_UNKNOWN, "sync the folder after naming", error);
    }
}

/* From a synced temporary file to the answer. */
static void publish(struct job *job, struct temp *temp)
{
    enum naming naming = NAMING_FOLDER_GONE;
    for (int tries = 0; tries < FOLDER_TRIES_MAX && naming == NAMING_FOLDER_GONE; tries++) {
        int folder_fd;
        const char *action;
        int error = directory_folder_open(job, &folder_fd, &action);
        if (error == ENOENT)
            continue;
        if (error != 0) {
            directory_answer_error(job, STORE_FAILED, action, error);
            return;
        }
        naming = give_name(job, temp, folder_fd);
        if (naming == NAMING_DONE)
            conclude(job, temp, folder_fd);
        close(folder_fd);
    }
    if (naming == NAMING_FOLDER_GONE)
        directory_answer_error(job, STORE_FAILED, "keep the folder of", ENOENT);
}

void directory_put(struct job *job)
{
    struct directory *directory = job->directory;
    assert(directory->temp_fd >= 0);
    if (job->op->verb == STORE_PUT_IF_ABSENT && exists_already(job))
        return; /* a lost attempt need not write its body */
    struct temp temp = {.fd = -1};
    int error = temp_create(directory, &temp);
    if (error != 0) {
        directory_answer_error(job, STORE_FAILED, "make a temporary file for", error);
    } else {
        error = temp_fill(directory, &temp, &job->op->body);
        if (error != 0)
            directory_answer_error(job, STORE_FAILED, "write", error);
        else
            publish(job, &temp);
    }
    temp_remove(directory, &temp);
    if (job->outcome == STORE_OK) {
        error = directory_step_done(directory, DIRECTORY_STEP_TEMP_REMOVED);
        assert(error == 0); /* nothing is left that could fail */
    }
}

void directory_delete(struct job *job)
{
    struct directory *directory = job->directory;
    job->outcome = STORE_OK;
    if (unlinkat(directory->root_fd, job->path, 0) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            directory_answer_error(job, surely_refused(errno) ? STORE_FAILED : STORE_UNKNOWN,
                                   "delete", errno);
        return;
    }
    int error = directory_sync_folder_of(directory, job->path);
    if (error != 0)
        directory_answer_error(job, STORE_UNKNOWN, "sync the folder after deleting", error);
    directory_folder_tidy(directory, job->path);
}
