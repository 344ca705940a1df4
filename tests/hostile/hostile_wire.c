/* hostile_wire.c - see hostile_wire.h. */
#include "tests/hostile/hostile_wire.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define FLUSH_POLLS_MAX 200
#define FLUSH_PAUSE_MS 5

bool hostile_wire_open(struct hostile_wire *wire, int fd, SSL_CTX *context)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    wire->fd = fd;
    wire->tls = NULL;
    wire->used = 0;
    if (context == NULL)
        return true;
    wire->tls = SSL_new(context);
    assert(wire->tls != NULL);
    return SSL_set_fd(wire->tls, fd) == 1 && SSL_accept(wire->tls) == 1;
}

void hostile_wire_close(struct hostile_wire *wire)
{
    SSL_free(wire->tls);
    wire->tls = NULL;
}

static size_t receive(struct hostile_wire *wire, void *data, size_t capacity)
{
    if (wire->tls != NULL) {
        int got = SSL_read(wire->tls, data, (int)capacity);
        return got > 0 ? (size_t)got : 0;
    }
    ssize_t got;
    do
        got = recv(wire->fd, data, capacity, 0);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

bool hostile_wire_wait(struct hostile_wire *wire, int64_t idle_ns)
{
    if (wire->used > 0 || (wire->tls != NULL && SSL_pending(wire->tls) > 0))
        return true;
    struct pollfd item = {.fd = wire->fd, .events = POLLIN};
    int timeout_ms = idle_ns > 0 ? (int)(idle_ns / NS_PER_MS) : -1;
    int ready;
    do
        ready = poll(&item, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

size_t hostile_wire_read_head(struct hostile_wire *wire, char head[HOSTILE_HEAD_MAX])
{
    for (;;) {
        const uint8_t *end = memmem(wire->buffer, wire->used, "\r\n\r\n", 4);
        if (end != NULL) {
            size_t bytes = (size_t)(end - wire->buffer) + 4;
            memcpy(head, wire->buffer, bytes);
            head[bytes - 1] = '\0'; /* the last line feed */
            wire->used -= bytes;
            memmove(wire->buffer, wire->buffer + bytes, wire->used);
            return bytes;
        }
        if (wire->used == sizeof(wire->buffer))
            return 0;
        size_t got = receive(wire, wire->buffer + wire->used, sizeof(wire->buffer) - wire->used);
        if (got == 0)
            return 0;
        wire->used += got;
    }
}

bool hostile_wire_read(struct hostile_wire *wire, void *data, size_t bytes)
{
    uint8_t *at = data;
    size_t first = bytes < wire->used ? bytes : wire->used;
    memcpy(at, wire->buffer, first);
    wire->used -= first;
    memmove(wire->buffer, wire->buffer + first, wire->used);
    for (size_t have = first; have < bytes;) {
        size_t got = receive(wire, at + have, bytes - have);
        if (got == 0)
            return false;
        have += got;
    }
    return true;
}

bool hostile_wire_write(struct hostile_wire *wire, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    while (bytes > 0) {
        ssize_t sent = wire->tls != NULL ? SSL_write(wire->tls, at, (int)bytes)
                                         : send(wire->fd, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

void hostile_wire_flush(struct hostile_wire *wire)
{
    int left = 1;
    for (int i = 0; i < FLUSH_POLLS_MAX && left > 0; i++) {
        if (ioctl(wire->fd, SIOCOUTQ, &left) != 0)
            return;
        (void)poll(NULL, 0, FLUSH_PAUSE_MS); /* once at least: time to read the first segment */
    }
}

void hostile_wire_drain(struct hostile_wire *wire)
{
    uint8_t scrap[4096];
    wire->used = 0;
    while (receive(wire, scrap, sizeof(scrap)) > 0)
        continue;
}

void hostile_wire_wait_hang_up(struct hostile_wire *wire)
{
    struct pollfd item = {.fd = wire->fd, .events = POLLRDHUP};
    while (poll(&item, 1, -1) < 0 && errno == EINTR)
        continue;
}

void hostile_wire_reset(struct hostile_wire *wire)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(wire->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

/* ---- a certificate ---- */

static void add_extension(X509 *certificate, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    assert(extension != NULL);
    int added = X509_add_ext(certificate, extension, -1);
    assert(added == 1);
    X509_EXTENSION_free(extension);
}

static X509 *make_certificate(EVP_PKEY *key, const char *host)
{
    X509 *certificate = X509_new();
    assert(certificate != NULL);
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -24 * 3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 7 * 24 * 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"hostile server", -1, -1,
                               0);
    X509_set_issuer_name(certificate, name);
    char names[128];
    snprintf(names, sizeof(names), "DNS:localhost,IP:%s", host);
    add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, NID_subject_alt_name, names);
    int size = X509_sign(certificate, key, EVP_sha256());
    assert(size > 0);
    return certificate;
}

SSL_CTX *hostile_wire_tls(const char *host, char *path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    assert(key != NULL);
    X509 *certificate = make_certificate(key, host);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    assert(context != NULL);
    int used = SSL_CTX_use_certificate(context, certificate) + SSL_CTX_use_PrivateKey(context, key);
    assert(used == 2);
    int fd = mkstemp(path);
    assert(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert(file != NULL);
    int written = PEM_write_X509(file, certificate);
    assert(written == 1);
    fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return context;
}
