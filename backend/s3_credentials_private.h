/* s3_credentials_private.h - what the parser of files, the chain and IMDS share. */
#ifndef BACKEND_S3_CREDENTIALS_PRIVATE_H
#define BACKEND_S3_CREDENTIALS_PRIVATE_H

#include <stdbool.h>

#include "backend/s3_credentials.h"

/* Takes a text that comes from outside over into a field. NULL: done; else what is wrong, to be put
 * after the name of the field: it may go into a header, so it holds no blanks or control
 * characters.
 */
const char *credentials_take(const char *text, size_t bytes, char *field, size_t capacity);

#define IMDS_WHY_MAX 96

enum imds_result {
    IMDS_FOUND,
    IMDS_NONE,   /* switched off, nobody answers, or the machine has no role */
    IMDS_BROKEN, /* somebody answers, but not as IMDS does */
};

/* What it answers; pure. A line that may stand in a header or a path: printable, without blanks.
 * False: there is none. */
MUST_USE bool imds_parse_line(const char *answer, size_t bytes, char *line, size_t capacity);
/* The document of a role's keys. NULL: taken; else what is wrong, without a secret, and nothing is
 * taken. */
const char *imds_parse_keys(const char *answer, size_t bytes, struct credentials *credentials);

/* Asks the metadata service of EC2, version 2: three requests, each of at most CREDENTIALS_IMDS_NS,
 * and one of them once more. Blocks. Unless found, `why` says why not, without a secret. */
MUST_USE enum imds_result imds_find(struct credentials *credentials, char why[IMDS_WHY_MAX]);

#endif
