/* place.c - see place.h. What a server needs beside its endpoint stands in the environment, as for
 * any user: AWS_* (tests/s3/run.sh). Ours. */
#include "tests/s3/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/directory_store.h"
#include "backend/s3_store.h"
#include "tests/backend/fixture.h"

#define BUCKET "lakestream"
#define SLICE_NS NS_PER_MS
#define WAIT_NS (120 * NS_PER_S)

/* Ends of keys, beside what the directory can hold (battery_keys.c). VersityGW's are files. */
static const char *const spaced_keys[] = {
    "a b", " a", "a+b", "a%+b", "\xc3\xa4\xe2\x82\xac", "\xf0\x9f\x8c\x8a", NULL};
static const char *const all_keys[] = {"a b",
                                       " a",
                                       "a+b",
                                       "a%+b",
                                       "\xc3\xa4\xe2\x82\xac",
                                       "\xf0\x9f\x8c\x8a",
                                       "a\\b",
                                       "a//b",
                                       "a///",
                                       "a/./b",
                                       "a/../b",
                                       "a\tb",
                                       "a\x7f",
                                       NULL};

static const struct place_row {
    const char *endpoint;
    enum battery_nesting nesting;
    const char *const *more_keys;
} rows[] = {
    [PLACE_VIRTUAL] = {NULL, BATTERY_KEYS_NEST, all_keys},
    [PLACE_DIRECTORY] = {NULL, BATTERY_KEYS_NEST, NULL},
    [PLACE_RGW] = {"LAKESTREAM_RGW", BATTERY_KEYS_NEST, all_keys},
    [PLACE_RGW_HTTPS] = {"LAKESTREAM_RGW_HTTPS", BATTERY_KEYS_NEST, all_keys},
    [PLACE_VERSITYGW] = {"LAKESTREAM_VERSITYGW", BATTERY_KEYS_FLAT, spaced_keys},
    [PLACE_VERSITYGW_HTTPS] = {"LAKESTREAM_VERSITYGW_HTTPS", BATTERY_KEYS_FLAT, spaced_keys},
};

static const char *endpoint_of(enum place_kind kind)
{
    const char *endpoint = rows[kind].endpoint == NULL ? NULL : getenv(rows[kind].endpoint);
    return endpoint == NULL || endpoint[0] == '\0' ? NULL : endpoint;
}

const char *place_missing(enum place_kind kind)
{
    if (rows[kind].endpoint == NULL || endpoint_of(kind) != NULL)
        return NULL;
    static char text[PLACE_TEXT_MAX];
    snprintf(text, sizeof(text), "%s is not set: its server was not started (tests/s3/run.sh)",
             rows[kind].endpoint);
    return text;
}

/* ---- opening ---- */

static void open_virtual(struct place *place)
{
    struct virtual_store_options options = {.loop = &place->virtual_loop, .apply_fraction = 0.9};
    for (size_t i = 0; i < STORE_VERB_COUNT; i++)
        options.latency[i] = (struct latency_options){
            .shape = LATENCY_LOGNORMAL, .base_ns = 5 * NS_PER_MS, .sigma = 0.5};
    virtual_loop_init(&place->virtual_loop, EVENT_QUEUE_HEAP);
    assert(virtual_store_options_check(&options) == NULL);
    place->virtual_store = virtual_store_open(&options);
    place->store = virtual_store_client(place->virtual_store, 1);
    place->loop = &place->virtual_loop.loop;
}

static void open_live_loop(struct place *place)
{
    char error[STORE_ERROR_MAX] = "";
    enum open_result result = live_loop_open(NULL, &place->live, error);
    assert(result == OPEN_OK);
    place->loop = live_loop_base(place->live);
}

static void open_directory(struct place *place)
{
    char error[STORE_ERROR_MAX] = "";
    const struct directory_options options = {.access = DIRECTORY_WRITE};
    open_live_loop(place);
    scratch_make(place->folder);
    enum open_result result =
        directory_store_open(place->folder, &options, place->live, &place->store, error);
    assert(result == OPEN_OK);
}

static void open_s3(struct place *place)
{
    static unsigned opened;
    char address[PLACE_TEXT_MAX], error[STORE_ERROR_MAX] = "";
    open_live_loop(place);
    snprintf(address, sizeof(address), BUCKET "/tests/%lld-%ld-%u",
             (long long)loop_now(place->loop), (long)getpid(), ++opened);
    const struct s3_options options = {.endpoint = endpoint_of(place->kind)};
    enum open_result result = s3_store_open(address, &options, place->live, &place->store, error);
    if (result != OPEN_OK)
        fprintf(stderr, "\ns3://%s: %s\n", address, error);
    assert(result == OPEN_OK);
}

void place_open(struct place *place, enum place_kind kind)
{
    memset(place, 0, sizeof(*place));
    place->kind = kind;
    switch (kind) {
    case PLACE_VIRTUAL:
        open_virtual(place);
        break;
    case PLACE_DIRECTORY:
        open_directory(place);
        break;
    case PLACE_RGW:
    case PLACE_RGW_HTTPS:
    case PLACE_VERSITYGW:
    case PLACE_VERSITYGW_HTTPS:
        open_s3(place);
        break;
    }
}

void place_close(struct place *place)
{
    store_close(place->store);
    if (place->virtual_store != NULL) {
        virtual_store_close(place->virtual_store);
        virtual_loop_deinit(&place->virtual_loop);
    }
    if (place->live != NULL)
        live_loop_close(place->live);
    if (place->folder[0] != '\0')
        scratch_remove(place->folder);
}

/* ---- the battery ---- */

/* In slices: connections that are kept may keep the loop waiting long after the last answer. */
static void run_until_done(void *context, const uint32_t *waiting)
{
    struct place *place = context;
    int64_t end_ns = loop_now(place->loop) + WAIT_NS;
    while (*waiting > 0 && loop_now(place->loop) < end_ns)
        loop_run(place->loop, loop_now(place->loop) + SLICE_NS);
}

struct store_battery place_battery(struct place *place, struct store *store)
{
    return (struct store_battery){
        .store = store,
        .loop = place->loop,
        .run_until_done = run_until_done,
        .context = place,
        .nesting = rows[place->kind].nesting,
        .more_keys = rows[place->kind].more_keys,
    };
}
