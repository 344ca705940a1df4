/* s3_credentials.h - who signs: the chain of places where credentials stand, and their renewal.
 *
 * Order, as AWS's own tools: a profile named by an option; the environment (AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN); the profile AWS_PROFILE, else "default", in the shared
 * credentials file (AWS_SHARED_CREDENTIALS_FILE, else ~/.aws/credentials), then in the config file
 * (AWS_CONFIG_FILE, else ~/.aws/config); IMDSv2 of an EC2 machine (AWS_EC2_METADATA_DISABLED,
 * AWS_EC2_METADATA_SERVICE_ENDPOINT). A profile that was named must be there. Not supported: SSO,
 * assumed roles, credential_process; the error says so where a profile asks for one of them.
 *
 * Secrets are never put into a text, a log or an error. */
#ifndef BACKEND_S3_CREDENTIALS_H
#define BACKEND_S3_CREDENTIALS_H

#include <stdbool.h>

#include "backend/result.h"
#include "core/base.h"
#include "core/store.h"

#define CREDENTIALS_ACCESS_MAX 160 /* bytes with the NUL, as all of these */
#define CREDENTIALS_SECRET_MAX 256
#define CREDENTIALS_TOKEN_MAX 8192
#define CREDENTIALS_SOURCE_MAX 128
#define CREDENTIALS_FILE_BYTES_MAX (1 << 20)
#define CREDENTIALS_IMDS_NS (1 * NS_PER_S) /* for each of its three requests; one retry in all */

struct credentials {
    char access_key[CREDENTIALS_ACCESS_MAX];
    char secret_key[CREDENTIALS_SECRET_MAX];
    char session_token[CREDENTIALS_TOKEN_MAX]; /* empty: none */
    char source[CREDENTIALS_SOURCE_MAX];       /* for messages: "environment", a file, "IMDS" */
    int64_t expires_ns;                        /* Unix time; TIME_NEVER: not known to expire */
};

/* What a profile says beside credentials; empty where it does not. */
struct credentials_profile {
    char region[64];
    char endpoint[256];
};

/* Finds credentials, reading files and at most asking IMDS: blocks, at most about 4 s, 2 s where
 * nobody answers. Called at open, and on a worker when a token has expired or is about to.
 * `profile` may be NULL. OPEN_FAILED says where it looked and what to do; OPEN_BAD_INPUT: a file is
 * malformed, with file and line, or one of the two variables is set alone. */
MUST_USE enum open_result credentials_find(const char *profile, struct credentials *credentials,
                                           char error[STORE_ERROR_MAX]);
/* What the shared files say about a profile, that of credentials first; does not block on the
 * network, does not need keys. OPEN_FAILED: a named profile is in neither, or a file cannot be
 * read; OPEN_BAD_INPUT: a file is malformed. */
MUST_USE enum open_result credentials_profile_find(const char *profile,
                                                   struct credentials_profile *found,
                                                   char error[STORE_ERROR_MAX]);
void credentials_wipe(struct credentials *credentials);

/* One file's text. `prefixed`: sections are "[profile x]",
 * as in the config file, but for "[default]". */
struct credentials_file {
    const char *text; /* need not end with a NUL */
    size_t bytes;
    const char *name; /* for messages */
    bool prefixed;
};

enum credentials_parsed {
    CREDENTIALS_PARSED,
    CREDENTIALS_NO_PROFILE,
    CREDENTIALS_NO_KEYS,     /* the profile is there, without both keys */
    CREDENTIALS_UNSUPPORTED, /* it asks for SSO, a role or a process */
    CREDENTIALS_MALFORMED,
};

/* Everything that is wrong in the file is refused, wherever it stands; `error` is empty unless
 * MALFORMED or UNSUPPORTED. `credentials` is zero unless PARSED; `found` is filled unless
 * MALFORMED.
 */
MUST_USE enum credentials_parsed credentials_parse(const struct credentials_file *file,
                                                   const char *profile,
                                                   struct credentials *credentials,
                                                   struct credentials_profile *found,
                                                   char error[STORE_ERROR_MAX]);

#endif
