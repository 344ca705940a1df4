/* scratch.c - see scratch.h. */
#include "tests/fuzz/scratch.h"

#include <sys/mman.h>
#include <unistd.h>

int scratch_open(const uint8_t *data, size_t size, char path[SCRATCH_PATH_MAX])
{
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    assert(file >= 0);
    ssize_t written = write(file, data, size);
    assert(written == (ssize_t)size);
    off_t at = lseek(file, 0, SEEK_SET);
    assert(at == 0);
    snprintf(path, SCRATCH_PATH_MAX, "/proc/self/fd/%d", file);
    return file;
}

void scratch_close(int file)
{
    int closed = close(file);
    assert(closed == 0);
}

FILE *scratch_sink(void)
{
    static FILE *sink;
    if (sink == NULL)
        sink = fopen("/dev/null", "we");
    assert(sink != NULL);
    return sink;
}
