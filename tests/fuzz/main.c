/* main.c - test-fuzz: replays the corpora, each input as it is, cut short, extended and with random
 * bytes changed; needs no fuzzer. Ends like every test program.
 *
 *   test-fuzz [--mutations=N] [-v] [--list] [TARGET | FILE of the last TARGET] ... */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "tests/fuzz/target.h"

#define CORPUS "tests/fuzz/corpus"
#define PATH_BYTES_MAX 512
#define MUTATIONS_DEFAULT 64

struct replay {
    const struct fuzz_target *target;
    unsigned long mutations;
    bool verbose;
    unsigned long inputs;
    unsigned long runs;
    struct random_stream random;
};

/* In a block of exactly its size, so that a sanitized build sees every byte too many. */
static void run_copy(struct replay *replay, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    replay->target->run(copy, size);
    replay->runs++;
    free(copy);
}

static void run_mutation(struct replay *replay, const uint8_t *data, size_t size)
{
    static uint8_t mutated[FUZZ_INPUT_MAX + 64];
    size_t count = 1 + random_next(&replay->random) % 4;
    if (size > 0)
        memcpy(mutated, data, size);
    if (random_next(&replay->random) % 4 == 0)
        size = random_next(&replay->random) % (size + 1);
    if (random_next(&replay->random) % 8 == 0) {
        size_t added = random_next(&replay->random) % 64;
        memset(mutated + size, (int)(random_next(&replay->random) % 256), added);
        size += added;
    }
    for (size_t i = 0; i < count && size > 0; i++) {
        uint64_t draw = random_next(&replay->random);
        uint8_t *at = &mutated[(draw >> 16) % size];
        uint8_t drawn = (uint8_t)(draw >> 8);
        uint8_t flipped = (uint8_t)(*at ^ (1U << drawn % 8));
        *at = draw & 1 ? drawn : flipped;
    }
    run_copy(replay, mutated, size);
}

static bool run_file(struct replay *replay, const char *path)
{
    static uint8_t data[FUZZ_INPUT_MAX];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        perror(path);
        return false;
    }
    size_t size = fread(data, 1, sizeof(data), file);
    bool whole = size < sizeof(data) || fgetc(file) == EOF;
    fclose(file);
    if (!whole) {
        fprintf(stderr, "%s: an input has at most %d bytes\n", path, FUZZ_INPUT_MAX);
        return false;
    }
    if (replay->verbose)
        printf("%s\n", path);
    replay->inputs++;
    replay->random = random_stream_make(replay->inputs, 1);
    run_copy(replay, data, size);
    for (unsigned long i = 0; i < replay->mutations; i++)
        run_mutation(replay, data, size);
    return true;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* False: the corpus is missing or empty. */
static bool run_corpus(struct replay *replay)
{
    char path[PATH_BYTES_MAX];
    struct dirent **entries;
    snprintf(path, sizeof(path), CORPUS "/%s", replay->target->name);
    int count = scandir(path, &entries, is_input, alphasort);
    bool good = count > 0;
    if (!good)
        fprintf(stderr, "%s: no inputs; make corpus writes seeds\n", path);
    replay->inputs = replay->runs = 0;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), CORPUS "/%s/%s", replay->target->name, entries[i]->d_name);
        good = run_file(replay, path) && good;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    printf("  %-12s%lu inputs, %lu runs\n", replay->target->name, replay->inputs, replay->runs);
    return good;
}

static int list(void)
{
    for (size_t i = 0; i < fuzz_target_count(); i++)
        printf("%s\n", fuzz_target_at(i)->name);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static const char mutations[] = "--mutations=";
    struct replay replay = {.mutations = MUTATIONS_DEFAULT};
    unsigned passed = 0;
    unsigned failed = 0;
    bool all = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        const struct fuzz_target *named = fuzz_target_find(argv[i]);
        if (strcmp(argv[i], "--list") == 0)
            return list();
        if (strncmp(argv[i], mutations, sizeof(mutations) - 1) == 0) {
            replay.mutations = strtoul(argv[i] + sizeof(mutations) - 1, NULL, 10);
        } else if (strcmp(argv[i], "-v") == 0) {
            replay.verbose = true;
        } else if (replay.target != NULL && named == NULL) {
            *(run_file(&replay, argv[i]) ? &passed : &failed) += 1;
        } else if (named != NULL) {
            all = false;
            replay.target = named;
            if (i + 1 == argc || fuzz_target_find(argv[i + 1]))
                *(run_corpus(&replay) ? &passed : &failed) += 1;
        } else {
            fprintf(stderr, "%s: no such target; --list prints all\n", argv[i]);
            return 2;
        }
    }
    for (size_t i = 0; all && i < fuzz_target_count(); i++) {
        replay.target = fuzz_target_at(i);
        *(run_corpus(&replay) ? &passed : &failed) += 1;
    }
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
