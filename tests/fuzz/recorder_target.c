/* recorder_target.c - what a child recorded, as its parent merges it. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "experiments/trials/recorder.h"
#include "tests/fuzz/target.h"

void fuzz_recorder(const uint8_t *data, size_t size);

/* Where experiments/trials/recorder_wire.c puts them. */
#define SIZE_AT 8
#define CHECKSUM_AT 16
#define CHECKED_FROM 24
#define OPTIONS_END 72

static struct recorder *open_recorder(void)
{
    struct recorder_options options = {
        .duration_ns = 3 * NS_PER_S, .warmup_ns = NS_PER_S, .bin_ns = NS_PER_S, .producers = 2};
    return recorder_open(&options);
}

static void merge(const uint8_t *data, size_t size)
{
    struct recorder *recorder = open_recorder();
    struct recorder *again = open_recorder();
    enum recorder_merge_error error = recorder_merge(recorder, data, size);
    assert(recorder_merge_text(error)[0] != '\0');
    struct run_results results = {0};
    recorder_results(recorder, &results);
    assert(recorder_failed_producers(recorder) <= 2);
    assert(strlen(recorder_failure(recorder)) < FUZZ_INPUT_MAX);
    size_t bytes;
    uint8_t *serialized = recorder_serialize(recorder, &bytes);
    error = recorder_merge(again, serialized, bytes);
    assert(error == RECORDER_MERGED);
    free(serialized);
    run_results_deinit(&results);
    recorder_close(recorder);
    recorder_close(again);
}

/* The same with its size, options and checksum put right. */
void fuzz_recorder(const uint8_t *data, size_t size)
{
    merge(data, size);
    if (size < OPTIONS_END)
        return;
    struct recorder *empty = open_recorder();
    size_t bytes;
    uint8_t *right = recorder_serialize(empty, &bytes);
    uint8_t *sealed = malloc(size);
    assert(sealed != NULL && bytes >= OPTIONS_END);
    memcpy(sealed, data, size);
    memcpy(sealed, right, OPTIONS_END);
    uint64_t total = size;
    memcpy(sealed + SIZE_AT, &total, sizeof(total));
    uint64_t checksum = XXH3_64bits(sealed + CHECKED_FROM, size - CHECKED_FROM);
    memcpy(sealed + CHECKSUM_AT, &checksum, sizeof(checksum));
    merge(sealed, size);
    free(sealed);
    free(right);
    recorder_close(empty);
}
