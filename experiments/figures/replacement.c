/* replacement.c - see replacement.h. Ours. */
#include "experiments/figures/replacement.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool replacement_open(struct replacement *replacement, const char *path)
{
    if (realpath(path, replacement->path) == NULL) {
        if (errno != ENOENT)
            return false;
        snprintf(replacement->path, sizeof(replacement->path), "%s", path);
    }
    snprintf(replacement->next, sizeof(replacement->next), "%s.new", replacement->path);
    replacement->file = fopen(replacement->next, "we");
    return replacement->file != NULL;
}

bool replacement_close(struct replacement *replacement)
{
    struct stat old;
    bool done = fflush(replacement->file) == 0 && !ferror(replacement->file);
    if (done && stat(replacement->path, &old) == 0)
        done = fchmod(fileno(replacement->file), old.st_mode & 07777) == 0;
    int error = errno;
    if (fclose(replacement->file) != 0 && done) {
        done = false;
        error = errno;
    }
    if (done && rename(replacement->next, replacement->path) == 0)
        return true;
    error = done ? errno : error;
    unlink(replacement->next);
    errno = error;
    return false;
}

void replacement_drop(struct replacement *replacement)
{
    fclose(replacement->file);
    unlink(replacement->next);
}
