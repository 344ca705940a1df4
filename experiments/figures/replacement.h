/* replacement.h - a file that is written anew as a whole: beside the old one, and then in its
 * place. Of a link, what it leads to is replaced; the mode stays. */
#ifndef EXPERIMENTS_REPLACEMENT_H
#define EXPERIMENTS_REPLACEMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/base.h"

struct replacement {
    FILE *file; /* to be written */
    char path[PATH_MAX];
    char next[PATH_MAX + 8];
};

/* Blocks. False: errno, nothing to close. */
MUST_USE bool replacement_open(struct replacement *replacement, const char *path);
/* Puts the new file in the old one's place. Blocks. False: errno; the old one is as it was. */
MUST_USE bool replacement_close(struct replacement *replacement);
/* Leaves the old file as it was. */
void replacement_drop(struct replacement *replacement);

#endif
