/* s3_xml.h - the XML that S3 answers with, read by expat under limits: depth, element text, and no
 * document type (so no entities). Every byte is hostile. */
#ifndef BACKEND_S3_XML_H
#define BACKEND_S3_XML_H

#include <stdbool.h>

#include "core/store.h"

#define S3_XML_BYTES_MAX (8 << 20)
#define S3_XML_DEPTH_MAX 16
#define S3_XML_TEXT_MAX 4096 /* bytes of one element's text */
#define S3_TOKEN_MAX 1024
#define S3_CODE_MAX 64
#define S3_MESSAGE_MAX 128

/* The parts of an <Error> that messages and decisions need; what is missing is empty, and so is
 * what is too long for its field: a signature, for one. */
struct s3_error {
    char code[S3_CODE_MAX];
    char message[S3_MESSAGE_MAX]; /* cut, harmless for a terminal, long tokens left out */
    char request_id[64];
    char region[64];      /* <Region>, where a bucket is */
    char endpoint[256];   /* <Endpoint>, of a redirect */
    char server_time[40]; /* <ServerTime>, of a skewed clock */
    int64_t object_bytes; /* <ActualObjectSize>, of a range past the end; negative: not said */
};

enum s3_xml {
    S3_XML_OK,
    S3_XML_OTHER,     /* well-formed so far as it was read, but another document */
    S3_XML_MALFORMED, /* or beyond a limit */
};

/* Whether the body's root element is <Error>; fills `error` if so. Reads a cut document as far as
 * it goes. */
MUST_USE enum s3_xml s3_xml_error(const uint8_t *body, size_t bytes, struct s3_error *error);

struct s3_list_result {
    bool truncated;
    char token[S3_TOKEN_MAX]; /* NextContinuationToken; empty: none */
};

/* A ListBucketResult: adds to `page` every key below `prefix` (the store's, with its slash), with
 * the prefix taken off and the url encoding undone. The page may hold keys of an answer before.
 * Keys too long for the store, not below the prefix, or not in ascending order make it malformed,
 * and so do more than STORE_LIST_KEYS_MAX in all, and "more follow" without a token; `why` says
 * what, and the page may then hold some. An object whose key is the prefix alone is left out: a
 * page may be empty although more follow. `result->token` has no control characters removed: encode
 * it. */
MUST_USE enum s3_xml s3_xml_list(const uint8_t *body, size_t bytes, const char *prefix,
                                 struct list_page *page, struct s3_list_result *result,
                                 char why[STORE_ERROR_MAX]);

#endif
