/* bench_s3_peer.c - the peer of `lakestream bench s3`: libcurl's own loop, as its examples have it,
 * and nothing that makes a client trustworthy. Method: libcurl's multi interface. */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/s3_address.h"
#include "backend/s3_credentials.h"
#include "backend/sigv4.h"
#include "core/xxh3.h"
#include "experiments/bench_s3.h"
#include "experiments/trials/progress.h"

#define PEER_LINE_MAX (S3_HOST_MAX + S3_PATH_MAX)
#define PEER_HEADERS_MAX 5
#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* Options and calls whose failure can only be our mistake, or no memory. */
#define MUST(call)                                                                                 \
    do {                                                                                           \
        int must_code = (int)(call);                                                               \
        assert(must_code == 0);                                                                    \
    } while (0)

struct peer_slot {
    struct bench_peer *peer;
    CURL *easy;
    struct curl_slist *headers;
    struct bench_target target;
    int64_t begun_ns;
    uint64_t sent;
    uint64_t got;
    uint8_t *answer; /* room for a body */
};

struct bench_peer {
    CURLM *multi;
    struct s3_address address;
    struct credentials credentials;
    struct sigv4_key key;
    const struct bench_load *load;
    uint64_t checksum; /* of a body */
    struct peer_slot slots[BENCH_S3_CONCURRENCY_MAX];
};

static bool has_body(const struct bench_load *load)
{
    return load->verb == STORE_PUT || load->verb == STORE_PUT_IF_ABSENT;
}

static size_t on_body(char *buffer, size_t size, size_t count, void *context)
{
    struct peer_slot *slot = context;
    const struct bench_load *load = slot->peer->load;
    uint64_t left = load->bytes - slot->sent;
    size_t bytes = left < size * count ? (size_t)left : size * count;
    memcpy(buffer, load->data + slot->sent, bytes);
    slot->sent += bytes;
    return bytes;
}

static size_t on_answer(char *data, size_t size, size_t count, void *context)
{
    struct peer_slot *slot = context;
    uint64_t bytes = size * count;
    if (bytes > slot->peer->load->bytes - slot->got)
        return 0;
    memcpy(slot->answer + slot->got, data, bytes);
    slot->got += bytes;
    return bytes;
}

static void add_header(struct peer_slot *slot, const char *name, const char *value)
{
    char line[CREDENTIALS_TOKEN_MAX + 64];
    int bytes = snprintf(line, sizeof(line), "%s: %s", name, value);
    assert(bytes > 0 && (size_t)bytes < sizeof(line));
    struct curl_slist *longer = curl_slist_append(slot->headers, line);
    assert(longer != NULL);
    slot->headers = longer;
}

static void sign(struct peer_slot *slot, const char *path)
{
    struct bench_peer *peer = slot->peer;
    const struct bench_load *load = peer->load;
    const struct credentials *credentials = &peer->credentials;
    struct timespec now;
    char hash[SIGV4_HASH_MAX] = EMPTY_HASH, authorization[SIGV4_AUTHORIZATION_MAX];
    struct sigv4_request request = {
        .method = has_body(load) ? "PUT" : "GET", .path = path, .query = "", .payload_hash = hash};
    clock_gettime(CLOCK_REALTIME, &now);
    sigv4_time((int64_t)now.tv_sec * NS_PER_S, request.time);
    if (has_body(load))
        sigv4_hash(load->data, load->bytes, hash);
    struct sigv4_header headers[PEER_HEADERS_MAX] = {
        {"host", peer->address.host}, {"x-amz-date", request.time}, {"x-amz-content-sha256", hash}};
    request.headers = headers;
    request.header_count = 3;
    if (load->verb == STORE_PUT_IF_ABSENT)
        headers[request.header_count++] = (struct sigv4_header){"if-none-match", "*"};
    if (credentials->session_token[0] != '\0')
        headers[request.header_count++] =
            (struct sigv4_header){"x-amz-security-token", credentials->session_token};
    sigv4_sign(&peer->key, credentials->access_key, credentials->secret_key, peer->address.region,
               &request, authorization);
    for (size_t i = 1; i < request.header_count; i++)
        add_header(slot, headers[i].name, headers[i].value);
    add_header(slot, "authorization", authorization);
    if (has_body(load))
        add_header(slot, "Expect", "");
}

static void set_range(const struct peer_slot *slot)
{
    const struct bench_target *target = &slot->target;
    char range[64];
    snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, target->offset,
             target->offset + target->range_bytes - 1);
    MUST(curl_easy_setopt(slot->easy, CURLOPT_RANGE, target->range_bytes > 0 ? range : NULL));
}

static void begin(struct bench_peer *peer, struct peer_slot *slot, uint32_t number)
{
    const struct bench_load *load = peer->load;
    char url[PEER_LINE_MAX], path[S3_PATH_MAX];
    slot->begun_ns = progress_now_ns();
    slot->target = bench_target_of(load, number);
    s3_address_path(&peer->address, slot->target.key, path);
    snprintf(url, sizeof(url), "%s://%s%s", peer->address.tls ? "https" : "http",
             peer->address.host, path);
    slot->sent = slot->got = 0;
    sign(slot, path);
    set_range(slot);
    MUST(curl_easy_setopt(slot->easy, CURLOPT_URL, url));
    MUST(curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, slot->headers));
    if (has_body(load)) {
        MUST(curl_easy_setopt(slot->easy, CURLOPT_UPLOAD, 1L));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)load->bytes));
    } else {
        MUST(curl_easy_setopt(slot->easy, CURLOPT_HTTPGET, 1L));
    }
    MUST(curl_multi_add_handle(peer->multi, slot->easy));
}

static bool is_whole(const struct peer_slot *slot)
{
    const struct bench_peer *peer = slot->peer;
    return slot->got == peer->load->bytes &&
           (peer->load->slices != NULL || XXH3_64bits(slot->answer, slot->got) == peer->checksum);
}

/* The request that a message tells the end of. */
static struct peer_slot *end(struct bench_peer *peer, const CURLMsg *message,
                             struct bench_cost *cost)
{
    CURLcode code = message->data.result;
    struct peer_slot *slot;
    long status;
    char *private;
    MUST(curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private));
    MUST(curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status));
    slot = (struct peer_slot *)(void *)private;
    long good = slot->target.range_bytes > 0 ? 206 : 200;
    if (code != CURLE_OK || status != good || (!has_body(peer->load) && !is_whole(slot))) {
        cost->bad++;
        snprintf(cost->why, sizeof(cost->why), "the peer got %ld: %s", status,
                 curl_easy_strerror(code));
    }
    MUST(curl_multi_remove_handle(peer->multi, slot->easy));
    curl_slist_free_all(slot->headers);
    slot->headers = NULL;
    return slot;
}

void bench_peer_run(struct bench_peer *peer, const struct bench_load *load, struct bench_cost *cost)
{
    uint32_t begun = 0, ended = 0;
    memset(cost, 0, sizeof(*cost));
    peer->load = load;
    if (load->slices == NULL)
        peer->checksum = XXH3_64bits(load->data, load->bytes);
    for (size_t i = 0; i < load->concurrency; i++) {
        peer->slots[i].answer = realloc(peer->slots[i].answer, load->bytes);
        assert(peer->slots[i].answer != NULL);
    }
    struct bench_clock clock = bench_clock_start();
    while (begun < load->concurrency && begun < load->count) {
        begin(peer, &peer->slots[begun], begun);
        begun++;
    }
    while (ended < load->count) {
        int running, left;
        MUST(curl_multi_perform(peer->multi, &running));
        for (const CURLMsg *message = curl_multi_info_read(peer->multi, &left); message != NULL;
             message = curl_multi_info_read(peer->multi, &left)) {
            struct peer_slot *slot = end(peer, message, cost);
            if (load->latency_ns != NULL)
                load->latency_ns[ended] = progress_now_ns() - slot->begun_ns;
            ended++;
            if (begun < load->count)
                begin(peer, slot, begun++);
        }
        if (ended < load->count)
            MUST(curl_multi_poll(peer->multi, NULL, 0, 1000, NULL));
    }
    bench_clock_stop(&clock, cost);
}

static void make_slots(struct bench_peer *peer, const char *ca_file)
{
    for (size_t i = 0; i < BENCH_S3_CONCURRENCY_MAX; i++) {
        struct peer_slot *slot = &peer->slots[i];
        slot->peer = peer;
        slot->easy = curl_easy_init();
        assert(slot->easy != NULL);
        MUST(curl_easy_setopt(slot->easy, CURLOPT_PRIVATE, slot));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_NOSIGNAL, 1L));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_PROXY, ""));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_BUFFERSIZE, 65536L));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_UPLOAD_BUFFERSIZE, 65536L));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_READFUNCTION, on_body));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_READDATA, slot));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, on_answer));
        MUST(curl_easy_setopt(slot->easy, CURLOPT_WRITEDATA, slot));
        if (ca_file != NULL && ca_file[0] != '\0')
            MUST(curl_easy_setopt(slot->easy, CURLOPT_CAINFO, ca_file));
    }
}

bool bench_peer_open(const char *address, const struct s3_options *options,
                     struct bench_peer **peer, char error[STORE_ERROR_MAX])
{
    struct bench_peer *made = calloc(1, sizeof(*made));
    assert(made != NULL);
    assert(strncmp(address, "s3://", strlen("s3://")) == 0);
    if (s3_address_parse(address + strlen("s3://"), options->endpoint, options->region,
                         options->style, &made->address, error) != OPEN_OK ||
        credentials_find(options->profile, &made->credentials, error) != OPEN_OK) {
        free(made);
        return false;
    }
    MUST(curl_global_init(CURL_GLOBAL_DEFAULT));
    made->multi = curl_multi_init();
    assert(made->multi != NULL);
    make_slots(made, options->ca_file != NULL ? options->ca_file : getenv("AWS_CA_BUNDLE"));
    *peer = made;
    return true;
}

void bench_peer_close(struct bench_peer *peer)
{
    for (size_t i = 0; i < BENCH_S3_CONCURRENCY_MAX; i++) {
        curl_easy_cleanup(peer->slots[i].easy);
        free(peer->slots[i].answer);
    }
    MUST(curl_multi_cleanup(peer->multi));
    curl_global_cleanup();
    sigv4_key_wipe(&peer->key);
    credentials_wipe(&peer->credentials);
    free(peer);
}
