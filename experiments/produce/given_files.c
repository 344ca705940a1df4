/* given_files.c - see given_files.h. Ours. */
#include "experiments/produce/given_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool look_at(const char *path, uint64_t *bytes, char error[GIVEN_FILES_TEXT_MAX])
{
    struct stat status;
    if (stat(path, &status) != 0) {
        snprintf(error, GIVEN_FILES_TEXT_MAX, "%.600s: %s", path, strerror(errno));
        return false;
    }
    *bytes = (uint64_t)status.st_size;
    if (!S_ISREG(status.st_mode))
        snprintf(error, GIVEN_FILES_TEXT_MAX,
                 "%.600s is not a file; give files, one for each batch", path);
    else if (status.st_size == 0)
        snprintf(error, GIVEN_FILES_TEXT_MAX, "%.600s is empty; a batch has at least one byte",
                 path);
    else if (*bytes > GIVEN_FILE_BYTES_MAX)
        snprintf(error, GIVEN_FILES_TEXT_MAX,
                 "%.600s has %" PRIu64 " bytes; a batch has at most %" PRIu64 ": split it", path,
                 *bytes, GIVEN_FILE_BYTES_MAX);
    else if (access(path, R_OK) != 0)
        snprintf(error, GIVEN_FILES_TEXT_MAX, "%.600s cannot be read: %s", path, strerror(errno));
    else
        return true;
    return false;
}

bool given_files_open(char **paths, size_t count, struct given_files *files,
                      char error[GIVEN_FILES_TEXT_MAX])
{
    assert(count > 0);
    *files = (struct given_files){.count = count, .paths = paths};
    files->sizes = calloc(count, sizeof(*files->sizes));
    assert(files->sizes != NULL);
    for (size_t i = 0; i < count; i++)
        if (!look_at(paths[i], &files->sizes[i], error)) {
            given_files_close(files);
            return false;
        }
    return true;
}

void given_files_close(struct given_files *files)
{
    free(files->sizes);
    *files = (struct given_files){0};
}

/* Reads exactly `bytes`, after which the file must end. errno is 0 where it has another size. */
static bool read_whole(int fd, uint8_t *data, uint64_t bytes)
{
    uint64_t got = 0;
    uint8_t beyond;
    for (;;) {
        bool full = got == bytes;
        ssize_t here = full ? read(fd, &beyond, 1) : read(fd, data + got, bytes - got);
        if (here < 0 && errno == EINTR)
            continue;
        if (here < 0)
            return false;
        errno = 0;
        if (here == 0 || full)
            return here == 0 && full;
        got += (uint64_t)here;
    }
}

uint8_t *given_files_read(const struct given_files *files, size_t index,
                          char error[STORE_ERROR_MAX])
{
    assert(index < files->count);
    uint64_t bytes = files->sizes[index];
    uint8_t *data = malloc(bytes);
    int fd = data == NULL ? -1 : open(files->paths[index], O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && read_whole(fd, data, bytes);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (whole)
        return data;
    free(data);
    if (reason != 0)
        snprintf(error, STORE_ERROR_MAX, "%.150s cannot be read: %s", files->paths[index],
                 strerror(reason));
    else
        snprintf(error, STORE_ERROR_MAX,
                 "%.120s changed its size while it was to be uploaded; give files that nobody "
                 "writes to",
                 files->paths[index]);
    return NULL;
}
