/* hostile_signature.h - checks a request's AWS Signature Version 4, from its raw head alone.
 * Source: the AWS reference "Authenticating Requests"; written apart from the client's signer, over
 * OpenSSL, so that an error in one is not an error in both. */
#ifndef TESTS_HOSTILE_HOSTILE_SIGNATURE_H
#define TESTS_HOSTILE_HOSTILE_SIGNATURE_H

#include "tests/hostile/hostile_server.h"

/* `path` and `query` are as they were sent; `why` gets what was wrong. Signed headers must include
 * host, x-amz-date, x-amz-content-sha256 and every other x-amz header. */
enum hostile_signature hostile_signature_check(const struct hostile_request *request,
                                               char why[256]);

#endif
