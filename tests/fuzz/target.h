/* target.h - what is fuzzed: one row per decoder, reader or machine that takes bytes from outside;
 * decoders.txt says which file is read by which.
 *
 * A target returns for every input; what must hold is an assert. The same targets are linked into
 * test-fuzz, which replays the corpora with any compiler, and into the libFuzzer program. */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include "core/base.h"

#define FUZZ_INPUT_MAX 8192

struct fuzz_target {
    const char *name; /* of its folder in tests/fuzz/corpus, too */
    const char *what;
    void (*run)(const uint8_t *data, size_t size);
};

size_t fuzz_target_count(void);
const struct fuzz_target *fuzz_target_at(size_t index);
/* NULL: there is none of that name. */
const struct fuzz_target *fuzz_target_find(const char *name);

#endif
