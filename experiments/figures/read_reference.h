/* read_reference.h - what ranks of `lakestream consume` fetched from real servers, kept as a
 * reference file (reference_file.h) that tools/read_amplification.sh writes: one row a server and
 * number of ranks, all its ranks together. */
#ifndef EXPERIMENTS_READ_REFERENCE_H
#define EXPERIMENTS_READ_REFERENCE_H

#include "experiments/figures/reference_file.h"

#define READ_REFERENCE_ROWS_MAX 64
#define READ_REFERENCE_COLUMNS                                                                     \
    "server,ranks,given,needed_bytes,slice_requests,slice_bytes,chain_bytes,requests,wire_bytes"

struct read_reference_row {
    char server[32];
    uint64_t ranks;
    uint64_t given;          /* steps, to all ranks together */
    uint64_t needed_bytes;   /* in the slices of those steps */
    uint64_t slice_requests; /* and bytes of their answers: heads of slices, no HTTP */
    uint64_t slice_bytes;
    uint64_t chain_bytes; /* manifests */
    uint64_t requests;    /* of all kinds */
    uint64_t wire_bytes;  /* received, HTTP's heads, listings and manifests included */
};

struct read_reference {
    size_t count;
    struct read_reference_row rows[READ_REFERENCE_ROWS_MAX];
    char notes[REFERENCE_NOTES_MAX];
};

/* Blocks. False: the diagnostic says path:line and what is wrong. */
MUST_USE bool read_reference_read(const char *path, struct read_reference *reference,
                                  struct diagnostic *diagnostic);

/* Bytes received for each slice beside it and the manifests: HTTP's heads and listings. */
double read_reference_heads(const struct read_reference_row *row);

#endif
