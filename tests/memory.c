/* memory.c - see memory.h: the kernel's high water mark, set back to what is held now. */
#include "tests/memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_MAX 8192

uint64_t memory_peak_begin(void)
{
    (void)malloc_trim(0);
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    assert(fd >= 0);
    ssize_t written = write(fd, "5", 1);
    assert(written == 1);
    close(fd);
    return memory_peak_bytes();
}

uint64_t memory_peak_bytes(void)
{
    static const char name[] = "VmHWM:";
    char text[STATUS_MAX];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    assert(fd >= 0);
    ssize_t bytes = read(fd, text, sizeof(text) - 1);
    assert(bytes > 0);
    close(fd);
    text[bytes] = '\0';
    const char *line = strstr(text, name);
    assert(line != NULL);
    return strtoull(line + strlen(name), NULL, 10) * 1024;
}
