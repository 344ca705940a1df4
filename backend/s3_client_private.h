/* s3_client_private.h - what a client and its exchanges share. */
#ifndef BACKEND_S3_CLIENT_PRIVATE_H
#define BACKEND_S3_CLIENT_PRIVATE_H

#include "backend/s3_client.h"

#define S3_DATE_BYTES_MAX 64

struct s3_client {
    struct s3_client_options options;
    char *ca_file;
    struct live_loop *loop;
    CURLM *multi;
    CURLSH *share;      /* TLS sessions */
    struct timer timer; /* libcurl's */
    struct timer batch; /* after all sockets that are ready: what has ended is taken */
    bool due;           /* libcurl wants to be called at once */
    bool driving;
    bool closed;                  /* from inside `done` */
    char date[S3_DATE_BYTES_MAX]; /* the last Date line, which is the same for a second */
    size_t date_bytes;
    int64_t date_ns;
    uint32_t exchanges;
    uint8_t *sockets; /* enum socket_state by descriptor */
    size_t socket_capacity;
};

/* libcurl's callbacks for the sockets of an exchange's connections; the context is the client. */
curl_socket_t s3_client_on_socket_open(void *client, curlsocktype purpose,
                                       struct curl_sockaddr *address);
int s3_client_on_socket_close(void *client, curl_socket_t fd);

/* It has ended as `code` says: fills the answer, and takes the handle out of the client. */
void s3_exchange_end(struct s3_exchange *exchange, CURLcode code);

#endif
