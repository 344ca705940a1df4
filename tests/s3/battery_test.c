/* battery_test.c - one battery, the same assertions: on every store there is, alone and under every
 * wrapper. Ours. */
#include "tests/battery/store_battery.h"

#include "core/codec_store.h"
#include "core/fault_store.h"
#include "core/meter_store.h"
#include "core/shape_store.h"
#include "tests/harness.h"
#include "tests/s3/place.h"

#define SHAPE_NS (2 * NS_PER_MS)

/* A wrapper over `inner`, with nothing for it to do but to pass on. NULL: none. */
typedef struct store *(*wrapper_open)(struct store *inner, struct loop *loop);

static struct store *open_codec(struct store *inner, struct loop *loop)
{
    (void)loop;
    const struct codec_store_options options = {.payload = true};
    return codec_store_open(inner, &options);
}

static struct store *open_fault(struct store *inner, struct loop *loop)
{
    static const struct fault_plan no_faults = {0};
    const struct fault_store_options options = {
        .inner = inner, .loop = loop, .plan = &no_faults, .random = random_stream_make(1, 1)};
    return fault_store_open(&options);
}

static struct store *open_meter(struct store *inner, struct loop *loop)
{
    const struct meter_store_options options = {.inner = inner, .loop = loop};
    return meter_store_open(&options);
}

static int64_t shape_ns(void *context, enum store_verb verb, double unit, uint64_t bytes)
{
    (void)context;
    (void)verb;
    return (int64_t)(unit * (double)SHAPE_NS) + (int64_t)bytes;
}

static struct store *open_shape(struct store *inner, struct loop *loop)
{
    const struct shape_store_options options = {.inner = inner,
                                                .loop = loop,
                                                .latency_ns = shape_ns,
                                                .apply_fraction = 0.5,
                                                .read_fraction = 0.5,
                                                .random = random_stream_make(1, 2)};
    return shape_store_open(&options);
}

static void run_battery(enum place_kind kind, wrapper_open open)
{
    if (place_missing(kind) != NULL)
        HARNESS_SKIP(place_missing(kind));
    struct place place;
    place_open(&place, kind);
    struct store *outer = open == NULL ? place.store : open(place.store, place.loop);
    const struct store_battery battery = place_battery(&place, outer);
    store_battery_run(&battery);
    if (open != NULL)
        store_close(outer);
    place_close(&place);
}

/* The table: stores by wrappers. */
#define WRAPPERS(X, name, kind)                                                                    \
    X(name, kind, alone, NULL)                                                                     \
    X(name, kind, under_codec, open_codec)                                                         \
    X(name, kind, under_fault, open_fault)                                                         \
    X(name, kind, under_meter, open_meter)                                                         \
    X(name, kind, under_shape, open_shape)
#define STORES(X)                                                                                  \
    WRAPPERS(X, virtual, PLACE_VIRTUAL)                                                            \
    WRAPPERS(X, directory, PLACE_DIRECTORY)                                                        \
    WRAPPERS(X, rgw, PLACE_RGW)                                                                    \
    WRAPPERS(X, rgw_https, PLACE_RGW_HTTPS)                                                        \
    WRAPPERS(X, versitygw, PLACE_VERSITYGW)                                                        \
    WRAPPERS(X, versitygw_https, PLACE_VERSITYGW_HTTPS)

#define X(name, kind, wrapper, open)                                                               \
    static void name##_##wrapper(void)                                                             \
    {                                                                                              \
        run_battery(kind, open);                                                                   \
    }
STORES(X)
#undef X

const struct harness_test battery_tests[] = {
#define X(name, kind, wrapper, open) HARNESS_TEST(name##_##wrapper),
    STORES(X)
#undef X
        {0},
};
