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
    X(s3_headers, "header lines of an answer, and what the answer means")                          \
    X(imds, "what a metadata service answers: a line, and a role's keys")                          \
    X(address, "addresses of stores, typed or named by a redirect, and requests made of them")     \
    X(profile, "loading a profile of a store")                                                     \
    X(csv, "tables of what was measured elsewhere")                                                \
    X(launcher, "which process this is, as mpirun, srun or flags say")                             \
    X(meeting, "which run comes next, and at which step ranks start")                              \
    X(group, "that a rank stands ready, the start of a run, and a rank's result")                  \
    X(checkpoints, "the file of a rank's checkpoints")                                             \
    X(order, "the committed order as text")                                                        \
    X(rank_log, "a rank's log, line by line and held against the order")                           \
    X(rank_wire, "a message from a rank's process")

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
