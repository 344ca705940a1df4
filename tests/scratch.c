/* scratch.c - see scratch.h. */
#include "tests/scratch.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A long TMPDIR would leave too little of the names that are made below it. */
#define BASE_BYTES_MAX 80

static void template_write(char path[SCRATCH_MAX])
{
    const char *base = getenv("TMPDIR");
    bool usable = base != NULL && base[0] != '\0' && strlen(base) <= BASE_BYTES_MAX;
    snprintf(path, SCRATCH_MAX, "%s/lakestream-test-XXXXXX", usable ? base : "/tmp");
}

void scratch_make(char path[SCRATCH_MAX])
{
    template_write(path);
    const char *made = mkdtemp(path);
    assert(made != NULL);
    int failure = chmod(path, 0755);
    assert(failure == 0);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void scratch_remove(const char *path)
{
    assert(strstr(path, "lakestream-test-") != NULL);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int scratch_count(const char *path, const char *folder)
{
    char whole[2 * SCRATCH_MAX];
    snprintf(whole, sizeof(whole), "%s/%s", path, folder);
    DIR *dir = opendir(whole);
    if (dir == NULL)
        return -1;
    int count = 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        count += entry->d_type == DT_REG;
    closedir(dir);
    return count;
}

void scratch_file(char path[SCRATCH_MAX], const char *text)
{
    template_write(path);
    int made = mkstemp(path);
    assert(made >= 0);
    close(made);
    scratch_write(path, text);
}

void scratch_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert(file != NULL);
    fputs(text, file);
    int failure = fclose(file);
    assert(failure == 0);
}

void scratch_flip(const char *path, long at)
{
    uint8_t byte = 0;
    int file = open(path, O_RDWR | O_CLOEXEC);
    assert(file >= 0);
    ssize_t moved = pread(file, &byte, 1, at);
    assert(moved == 1);
    byte ^= 0x10;
    moved = pwrite(file, &byte, 1, at);
    assert(moved == 1);
    close(file);
}

void scratch_cut(const char *path, long size)
{
    int failure = truncate(path, size);
    assert(failure == 0);
}
