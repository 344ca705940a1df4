/* directory_store.c - the store seam on a directory: opening, and operations on their way to a
 * worker and back. What they do there is in directory_write.c, directory_read.c and
 * directory_list.c. Ours. */
#include "backend/directory_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/directory_private.h"

/* ---- operations ---- */

static void run_job(struct work *work)
{
    struct job *job = (struct job *)work;
    if (job->outcome == STORE_FAILED)
        return; /* refused in submit, but answered in the loop like all others */
    switch (job->op->verb) {
    case STORE_GET:
        directory_get(job);
        break;
    case STORE_PUT:
    case STORE_PUT_IF_ABSENT:
        directory_put(job);
        break;
    case STORE_LIST:
        directory_list(job);
        break;
    case STORE_DELETE:
        directory_delete(job);
        break;
    case STORE_VERB_COUNT:
        assert(false);
    }
}

static void unlink_job(struct job *job)
{
    if (job->previous == NULL)
        job->directory->jobs = job->next;
    else
        job->previous->next = job->next;
    if (job->next != NULL)
        job->next->previous = job->previous;
}

static void free_job(struct job *job)
{
    unlink_job(job);
    body_release(&job->result);
    list_page_deinit(&job->page);
    free(job);
}

static void finish_job(struct work *work)
{
    struct job *job = (struct job *)work;
    struct store_op *op = job->op;
    assert(op->store_private == job);
    op->store_private = NULL;
    op->outcome = job->outcome;
    op->object_bytes = job->object_bytes;
    op->damaged = job->damaged;
    op->result = job->result;
    job->result = (struct body){.kind = BODY_NONE};
    if (op->verb == STORE_LIST) {
        list_page_deinit(&op->page);
        op->page = job->page;
        job->page = (struct list_page){0};
    }
    memcpy(op->error, job->error, sizeof(op->error));
    free_job(job);
    op->done(op, op->context);
}

/* Sets FAILED for what can be refused without looking at the disk. */
static void refuse_or_prepare(struct job *job)
{
    const struct store_op *op = job->op;
    const struct directory *directory = job->directory;
    if (op->verb == STORE_LIST) {
        assert(memchr(op->key, '\0', STORE_KEY_MAX) != NULL);
        assert(memchr(op->after, '\0', STORE_KEY_MAX) != NULL);
        assert(op->list_keys_max >= 1 && op->list_keys_max <= STORE_LIST_KEYS_MAX);
        return;
    }
    enum directory_key_error key_error = directory_key_check(op->key);
    int written = 1;
    if (key_error != DIRECTORY_KEY_OK) {
        job->outcome = STORE_FAILED;
        written = snprintf(job->error, STORE_ERROR_MAX,
                           "a directory cannot hold the key \"%.*s\": %s; use another key",
                           STORE_KEY_MAX - 1, op->key, directory_key_error_text(key_error));
    } else if (op->verb != STORE_GET && directory->options.access == DIRECTORY_READ) {
        job->outcome = STORE_FAILED;
        written = snprintf(job->error, STORE_ERROR_MAX,
                           "%.64s was opened to read: cannot %s \"%s\"; open it to write",
                           directory->path, store_verb_name(op->verb), op->key);
    } else {
        directory_key_path(op->key, job->path);
    }
    assert(written > 0);
    if (op->verb == STORE_PUT || op->verb == STORE_PUT_IF_ABSENT) {
        assert(op->body.kind == BODY_BYTES);
        assert(op->body.bytes == 0 || op->body.data != NULL);
    }
}

static void directory_submit(struct store *base, struct store_op *op)
{
    struct directory *directory = (struct directory *)base;
    assert(op->done != NULL);
    assert(op->store_private == NULL);
    assert(op->result.kind == BODY_NONE);
    struct job *job = calloc(1, sizeof(*job));
    assert(job != NULL);
    job->work.run = run_job;
    job->work.done = finish_job;
    job->directory = directory;
    job->op = op;
    job->next = directory->jobs;
    if (job->next != NULL)
        job->next->previous = job;
    directory->jobs = job;
    op->store_private = job;
    refuse_or_prepare(job);
    live_loop_submit(directory->loop, &job->work);
}

static void free_directory(struct directory *directory)
{
    if (directory->temp_fd >= 0)
        close(directory->temp_fd);
    if (directory->root_fd >= 0)
        close(directory->root_fd);
    pthread_mutex_destroy(&directory->durable_mutex);
    free(directory->path);
    free(directory);
}

static void directory_close(struct store *base)
{
    struct directory *directory = (struct directory *)base;
    while (directory->jobs != NULL) {
        struct job *job = directory->jobs;
        live_loop_cancel(directory->loop, &job->work);
        job->op->store_private = NULL;
        free_job(job);
    }
    free_directory(directory);
}

/* ---- opening ---- */

/* Makes the directory and those above it that are missing, and their names durable. 0 or an errno.
 */
static int make_root(const struct directory *directory)
{
    char *path = strdup(directory->path);
    assert(path != NULL);
    size_t bytes = strlen(path);
    int error = 0;
    for (size_t i = 1; i <= bytes && error == 0; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        char after = path[i];
        path[i] = '\0';
        if (mkdir(path, 0777) == 0) {
            char *slash = strrchr(path, '/');
            char first = slash == NULL ? '\0' : slash[1];
            if (slash != NULL)
                slash[1] = '\0';
            int above = open(slash == NULL ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (slash != NULL)
                slash[1] = first;
            error = above < 0 ? errno : directory_sync_fd(directory, above);
            if (above >= 0)
                close(above);
        } else if (errno != EEXIST) {
            struct stat status;
            int reason = errno; /* some systems say EACCES or EROFS first, though it is there */
            error = stat(path, &status) == 0 ? 0 : reason;
        }
        path[i] = after;
    }
    free(path);
    return error;
}

/* Tries what a create needs: two names for one file, and a refusal to take a name twice. 0 or
 * errno. */
static int probe_links(struct directory *directory)
{
    char first[TEMP_NAME_MAX], second[TEMP_NAME_MAX];
    directory_temp_name(directory, first);
    directory_temp_name(directory, second);
    int temp_fd = directory->temp_fd;
    /* Left over from a dead process of the same number? */
    (void)unlinkat(temp_fd, first, 0);
    (void)unlinkat(temp_fd, second, 0);
    int fd = openat(temp_fd, first, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    int error = directory_sync_fd(directory, fd);
    close(fd);
    if (error == 0 && linkat(temp_fd, first, temp_fd, second, 0) != 0)
        error = errno == EPERM ? EOPNOTSUPP : errno;
    if (error == 0 && (linkat(temp_fd, first, temp_fd, second, 0) == 0 || errno != EEXIST))
        error = EOPNOTSUPP;
    (void)unlinkat(temp_fd, first, 0);
    (void)unlinkat(temp_fd, second, 0);
    return error;
}

static int prepare_to_write(struct directory *directory, const char **action)
{
    *action = "write in this directory";
    if (faccessat(directory->root_fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return errno;
    *action = "make the folder " DIRECTORY_TEMP_FOLDER;
    if (mkdirat(directory->root_fd, DIRECTORY_TEMP_FOLDER, 0777) != 0 && errno != EEXIST)
        return errno;
    *action = "open the folder " DIRECTORY_TEMP_FOLDER;
    directory->temp_fd =
        openat(directory->root_fd, DIRECTORY_TEMP_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->temp_fd < 0)
        return errno;
    *action = "sync folders";
    int error = directory_sync_fd(directory, directory->root_fd);
    if (error != 0)
        return error;
    *action = "make and link files";
    error = probe_links(directory);
    if (error == 0)
        (void)directory_temp_sweep(directory, loop_now(live_loop_base(directory->loop)));
    return error;
}

static int open_root(struct directory *directory, const char **action)
{
    bool write = directory->options.access == DIRECTORY_WRITE;
    *action = "make this directory";
    int error = write ? make_root(directory) : 0;
    if (error != 0)
        return error;
    *action = "open this directory";
    directory->root_fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->root_fd < 0)
        return errno;
    return write ? prepare_to_write(directory, action) : 0;
}

enum open_result directory_store_open(const char *path, const struct directory_options *options,
                                      struct live_loop *loop, struct store **store,
                                      char error[STORE_ERROR_MAX])
{
    static const struct store_ops ops = {.submit = directory_submit, .close = directory_close};
    assert(path != NULL && path[0] != '\0');
    struct directory *directory = calloc(1, sizeof(*directory));
    assert(directory != NULL);
    directory->base.ops = &ops;
    directory->loop = loop;
    if (options != NULL)
        directory->options = *options;
    directory->path = strdup(path);
    assert(directory->path != NULL);
    directory->root_fd = -1;
    directory->temp_fd = -1;
    pthread_mutex_init(&directory->durable_mutex, NULL);
    temp_owner_self(&directory->owner);

    const char *action;
    int failure = open_root(directory, &action);
    if (failure == 0) {
        *store = &directory->base;
        return OPEN_OK;
    }
    if (failure == ENOENT && directory->options.access == DIRECTORY_READ) {
        int written = snprintf(error, STORE_ERROR_MAX,
                               "%.160s: no such directory; look for a typing error, or write there "
                               "first",
                               path);
        assert(written > 0);
    } else {
        directory_open_error(path, action, failure, error);
    }
    free_directory(directory);
    return OPEN_FAILED;
}
