/* fuzzer_main.c - the targets as one libFuzzer program: --target=NAME chooses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/target.h"

/* libFuzzer calls these. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char flag[] = "--target=";
    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], flag, sizeof(flag) - 1) == 0)
            target = fuzz_target_find((*argv)[i] + sizeof(flag) - 1);
    if (target == NULL) {
        fprintf(stderr, "--target=NAME is missing or names none of these:\n");
        for (size_t i = 0; i < fuzz_target_count(); i++)
            fprintf(stderr, "  %-12s%s\n", fuzz_target_at(i)->name, fuzz_target_at(i)->what);
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target->run(data, size);
    return 0;
}
