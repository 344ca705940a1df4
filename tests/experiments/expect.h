/* expect.h - comparing texts in tests, with both printed when they differ. */
#ifndef TESTS_EXPERIMENTS_EXPECT_H
#define TESTS_EXPERIMENTS_EXPECT_H

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

/* `input`: what was tried, for the message. */
static inline void expect_text(const char *input, const char *found, const char *expected)
{
    if (strcmp(found, expected) != 0) {
        printf("\n  input    %s\n  found    %s\n  expected %s\n", input, found, expected);
        CU_FAIL("texts differ");
    } else {
        CU_PASS("same text");
    }
}

#endif
