/* hostile_wire.h - one connection of a hostile server: bytes in and out, by TCP or TLS. Blocks; an
 * end of file, an error and a shutdown from another thread look the same. */
#ifndef TESTS_HOSTILE_HOSTILE_WIRE_H
#define TESTS_HOSTILE_HOSTILE_WIRE_H

#include <openssl/types.h>
#include <stdbool.h>

#include "core/base.h"

#define HOSTILE_HEAD_MAX 32768

struct hostile_wire {
    int fd;
    SSL *tls;    /* NULL: plain */
    size_t used; /* bytes read and not yet taken */
    uint8_t buffer[HOSTILE_HEAD_MAX];
};

/* Takes the descriptor over; a handshake if there is a context. False: it failed. */
bool hostile_wire_open(struct hostile_wire *wire, int fd, SSL_CTX *context);
/* Leaves the descriptor, which the caller closes. */
void hostile_wire_close(struct hostile_wire *wire);
/* Waits for the first byte of something; false: none within idle_ns (0: no limit). */
bool hostile_wire_wait(struct hostile_wire *wire, int64_t idle_ns);
/* Reads a request's head, up to its empty line, as a NUL-terminated text; 0: there is none. */
size_t hostile_wire_read_head(struct hostile_wire *wire, char head[HOSTILE_HEAD_MAX]);
/* Reads exactly so many bytes. */
bool hostile_wire_read(struct hostile_wire *wire, void *data, size_t bytes);
bool hostile_wire_write(struct hostile_wire *wire, const void *data, size_t bytes);
/* Waits until the other side has what was written, so that the next bytes make a segment apart. */
void hostile_wire_flush(struct hostile_wire *wire);
/* Reads what still comes until the other side hangs up. */
void hostile_wire_drain(struct hostile_wire *wire);
/* Waits for the other side to hang up, without reading. */
void hostile_wire_wait_hang_up(struct hostile_wire *wire);
/* The close that follows is a reset. */
void hostile_wire_reset(struct hostile_wire *wire);

/* A self-signed certificate for localhost and `host`, and a context that shows it; its PEM is
 * written to `path` (a template of mkstemp, filled in). */
SSL_CTX *hostile_wire_tls(const char *host, char *path);

#endif
