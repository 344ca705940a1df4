/* scratch.h - bytes as a file, for what reads files. */
#ifndef TESTS_FUZZ_SCRATCH_H
#define TESTS_FUZZ_SCRATCH_H

#include <stdio.h>

#include "core/base.h"

#define SCRATCH_PATH_MAX 64

/* A file in memory; `path` names it until it is closed. */
int scratch_open(const uint8_t *data, size_t size, char path[SCRATCH_PATH_MAX]);
void scratch_close(int file);
/* A stream that forgets what is written to it; always the same one. */
FILE *scratch_sink(void);

#endif
