/* imds_server.h - a metadata service of EC2 on loopback, in a process of its own, that answers as a
 * script says: whole HTTP answers, after which it hangs up. */
#ifndef TESTS_BACKEND_IMDS_SERVER_H
#define TESTS_BACKEND_IMDS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct imds_script {
    const char *token; /* to the PUT, where it asks for a time to live */
    const char *role;  /* to a GET with the token "tok", of the role's name */
    const char *keys;  /* the same, of the keys of role "my+role" */
    bool fail_first;   /* the first request of all is answered 500 */
    bool silent;       /* accepts, and says nothing */
    bool endless;      /* the token goes on without end */
};

#define IMDS_KEYS(expiration)                                                                      \
    "HTTP/1.1 200 OK\r\n\r\n"                                                                      \
    "{\"Code\":\"Success\",\"Type\":\"AWS-HMAC\",\"AccessKeyId\":\"ASIA\",\"SecretAccessKey\":"    \
    "\"hush\",\"Token\":\"hush/token==\",\"Expiration\":\"" expiration "\"}"
#define IMDS_SCRIPT_GOOD                                                                           \
    {                                                                                              \
        .token = "HTTP/1.1 200 OK\r\n\r\ntok", .role = "HTTP/1.1 200 OK\r\n\r\nmy+role\nother\n",  \
        .keys = IMDS_KEYS("2026-01-31T23:59:59Z")                                                  \
    }

struct imds_server {
    pid_t pid;
    char endpoint[64];
};

/* `script` is borrowed until stop. Failures end the test by assert. */
void imds_server_start(struct imds_server *server, const struct imds_script *script);
void imds_server_stop(struct imds_server *server);

#endif
