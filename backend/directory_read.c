/* directory_read.c - GET on a directory, by ranges. Ours. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/directory_private.h"

#define READ_BYTES_MAX ((size_t)1 << 30) /* of one pread(2) */
#define STALE_TRIES_MAX 4                /* NFS: the file was replaced between lookup and read */

int directory_sync_if_fresh(const struct job *job, nlink_t names)
{
    return names < 2 ? 0 : directory_sync_folder_of(job->directory, job->path);
}

static int read_whole(int fd, uint8_t *data, uint64_t bytes, uint64_t offset)
{
    while (bytes > 0) {
        ssize_t got =
            pread(fd, data, bytes < READ_BYTES_MAX ? bytes : READ_BYTES_MAX, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            return EIO; /* shorter than its size: objects do not shrink */
        data += got;
        bytes -= (uint64_t)got;
        offset += (uint64_t)got;
    }
    return 0;
}

/* Whether the `bytes` that are asked for may be read; false, with 0 or an errno: no. */
static bool may_read(struct job *job, int fd, uint64_t bytes, int *error)
{
    const struct store_op *op = job->op;
    uint8_t head[OBJECT_HEAD_BYTES];
    bool asked = object_bound_asks(&op->bound, bytes);
    *error = 0;
    if (op->range_bytes != 0)
        return true;
    if (asked)
        *error = read_whole(fd, head, sizeof(head), op->range_offset);
    if (*error != 0)
        return false;
    if (object_bound_fits(&op->bound, bytes, asked ? head : NULL))
        return true;
    char words[OBJECT_BOUND_TEXT_MAX];
    object_bound_text(&op->bound, bytes, asked ? head : NULL, words);
    directory_answer_unfit(job, words);
    return false;
}

static int read_object(struct job *job, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return EISDIR;
    int error = directory_sync_if_fresh(job, status.st_nlink);
    if (error != 0)
        return error;
    uint64_t size = (uint64_t)status.st_size;
    uint64_t offset = job->op->range_offset < size ? job->op->range_offset : size;
    uint64_t bytes = size - offset;
    if (job->op->range_bytes != 0 && job->op->range_bytes < bytes)
        bytes = job->op->range_bytes;
    if (!may_read(job, fd, bytes, &error))
        return error;
    uint8_t *data = malloc(bytes == 0 ? 1 : bytes);
    if (data == NULL)
        return ENOMEM; /* the size came from outside */
    error = read_whole(fd, data, bytes, offset);
    if (error != 0) {
        free(data);
        return error;
    }
    job->outcome = STORE_OK;
    job->object_bytes = size;
    job->result = (struct body){.kind = BODY_BYTES, .bytes = bytes, .data = data};
    return 0;
}

void directory_get(struct job *job)
{
    int error;
    int tries = 0;
    do {
        error = 0;
        int fd = openat(job->directory->root_fd, job->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) {
            error = errno;
        } else {
            error = read_object(job, fd);
            close(fd);
        }
    } while (error == ESTALE && ++tries < STALE_TRIES_MAX);
    if (error == ENOENT || error == ENOTDIR)
        job->outcome = STORE_NOT_FOUND;
    else if (error != 0)
        directory_answer_error(job, STORE_FAILED, "read", error);
}
