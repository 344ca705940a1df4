/* targets.c - the table of targets. */
#include <string.h>

#include "tests/fuzz/target.h"

#define TARGETS(X)                                                                                 \
    X(manifest, "decoding a manifest, under a valid checksum too")                                 \
    X(name, "parsing the names of objects, and making files of them")                              \
    X(tgb, "reading a sliced TGB, whole and by slices, under valid checksums too")                 \
    X(commit, "a producer on a store that answers anything")                                       \
    X(reclaim, "a reclaimer on a store that answers anything")                                     \
    X(consume, "a rank on a store that answers anything")                                          \
    X(yaml, "reading YAML")                                                                        \
    X(experiment, "loading an experiment with --set")                                              \
    X(option, "setting one option from text")                                                      \
    X(unit, "reading values with units, and tables of quantiles")                                  \
    X(recorder, "merging what a child recorded, under a valid checksum too")                       \
    X(wire, "a message from a producer's process")                                                 \
    X(marker, "reading the marker of a live run")                                                  \
    X(inspect, "inspecting a chain that anybody wrote")                                            \
    X(reported, "reading the paper's numbers")                                                     \
    X(paper, "rewriting what stands between markers")                                              \
    X(credentials, "shared credentials and config files, and what an error says of them")          \
    X(s3_xml, "errors and listings as an S3 server sends them")                                    \
    X(s3_headers, "header lines of an answer, and what the answer means")

#define X(name, what) void fuzz_##name(const uint8_t *data, size_t size);
TARGETS(X)
#undef X

static const struct fuzz_target targets[] = {
#define X(name, what) {#name, what, fuzz_##name},
    TARGETS(X)
#undef X
};

size_t fuzz_target_count(void)
{
    return sizeof(targets) / sizeof(targets[0]);
}

const struct fuzz_target *fuzz_target_at(size_t index)
{
    assert(index < fuzz_target_count());
    return &targets[index];
}

const struct fuzz_target *fuzz_target_find(const char *name)
{
    for (size_t i = 0; i < fuzz_target_count(); i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}
