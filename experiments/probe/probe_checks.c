/* probe_checks.c - the checks of reading, writing and deleting; listings are in probe_list.c, races
 * in probe_race.c. Ours. */
#include "experiments/probe/probe_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_OBJECT_BYTES 1000
#define FRESH_ROUNDS 8
#define CLOCK_NOTED_NS (2 * NS_PER_S) /* the Date header counts seconds */

bool probe_put(struct probe *probe, struct probe_result *result, size_t store, const char *name,
               const char *text)
{
    struct probe_call call;
    probe_call_init(probe, &call, STORE_PUT, store, name);
    probe_call_body(&call, text, strlen(text));
    probe_send_surely(probe, &call);
    bool good = call.op.outcome == STORE_OK;
    if (!good)
        probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
    store_op_deinit(&call.op);
    return good;
}

bool probe_expect(struct probe *probe, struct probe_result *result, size_t store, const char *name,
                  const char *text)
{
    struct probe_call call;
    char at[STORE_ERROR_MAX];
    probe_call_init(probe, &call, STORE_GET, store, name);
    probe_send_surely(probe, &call);
    bool good = probe_call_holds(&call, text, strlen(text));
    if (!good && call.op.outcome == STORE_OK)
        probe_say(result, PROBE_UNFIT, "%s holds other bytes than were written%s", call.op.key,
                  probe_at(probe, store, at));
    else if (!good && call.op.outcome == STORE_NOT_FOUND)
        probe_say(result, PROBE_UNFIT, "%s was just written, and is not found%s", call.op.key,
                  probe_at(probe, store, at));
    else if (!good)
        probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
    store_op_deinit(&call.op);
    return good;
}

void probe_check_reach(struct probe *probe, struct probe_result *result)
{
    for (size_t i = 0; i < probe->options->store_count; i++) {
        struct probe_call call;
        probe_call_init(probe, &call, STORE_LIST, i, "");
        probe_send_surely(probe, &call);
        if (call.op.outcome != STORE_OK)
            probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
        else if (call.op.page.count > 0)
            probe_say(result, PROBE_UNFIT,
                      "a listing of a new prefix is not empty: it shows %.100s",
                      list_page_key(&call.op.page, 0));
        store_op_deinit(&call.op);
    }
    probe_say(result, PROBE_GOOD, "it answers, and takes the credentials");
}

/* By each endpoint for itself: whether they are one store is for the creates to tell. */
void probe_check_write(struct probe *probe, struct probe_result *result)
{
    static const char *const texts[] = {"the first text", "the second text, which is longer", "3",
                                        ""};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!probe_put(probe, result, i, "write/key", texts[i]) ||
            !probe_expect(probe, result, i, "write/key", texts[i]))
            return;
    probe_say(result, PROBE_GOOD, "what is written is read back, and overwritten");
}

/* ---- ranges ---- */

struct range {
    const char *name;
    uint64_t offset;
    uint64_t bytes; /* 0: to the end */
    uint64_t read;  /* so many must come */
};

static bool check_range(struct probe *probe, struct probe_result *result, const struct range *range,
                        const char *object)
{
    struct probe_call call;
    probe_call_init(probe, &call, STORE_GET, 0, range->name);
    call.op.range_offset = range->offset;
    call.op.range_bytes = range->bytes;
    probe_send_surely(probe, &call);
    const char *expected = range->read > 0 ? object + range->offset : object;
    bool good =
        probe_call_holds(&call, expected, range->read) && call.op.object_bytes == strlen(object);
    if (call.op.outcome != STORE_OK)
        probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
    else if (!good)
        probe_say(result, PROBE_UNFIT,
                  "a range of %llu bytes at %llu, of %zu, brought %llu bytes of %llu, or others",
                  (unsigned long long)range->bytes, (unsigned long long)range->offset,
                  strlen(object), (unsigned long long)call.op.result.bytes,
                  (unsigned long long)call.op.object_bytes);
    store_op_deinit(&call.op);
    return good;
}

void probe_check_range(struct probe *probe, struct probe_result *result)
{
    static const struct range ranges[] = {
        {"range/full", 0, 0, RANGE_OBJECT_BYTES},
        {"range/full", 0, 1, 1},
        {"range/full", 300, 50, 50},
        {"range/full", 500, 0, RANGE_OBJECT_BYTES - 500},
        {"range/full", RANGE_OBJECT_BYTES - 1, 1, 1},
        {"range/full", RANGE_OBJECT_BYTES - 10, 100, 10},
        {"range/full", RANGE_OBJECT_BYTES, 1, 0},
        {"range/full", UINT64_C(1) << 40, 100, 0},
        {"range/empty", 0, 0, 0},
        {"range/empty", 0, 5, 0},
    };
    char object[RANGE_OBJECT_BYTES + 1];
    for (size_t i = 0; i < RANGE_OBJECT_BYTES; i++)
        object[i] = (char)('a' + random_next(&probe->random) % 26);
    object[RANGE_OBJECT_BYTES] = '\0';
    if (!probe_put(probe, result, 0, "range/full", object) ||
        !probe_put(probe, result, 0, "range/empty", ""))
        return;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (!check_range(probe, result, &ranges[i],
                         strcmp(ranges[i].name, "range/full") == 0 ? object : ""))
            return;
    probe_say(result, PROBE_GOOD, "of the middle, to the end, past it, and of an empty object");
}

/* ---- fresh ---- */

/* Whether a listing shows the key. */
static bool is_listed(struct probe *probe, struct probe_result *result, size_t store,
                      const char *name, bool *listed)
{
    struct probe_call call;
    probe_call_init(probe, &call, STORE_LIST, store, name);
    probe_send_surely(probe, &call);
    bool good = call.op.outcome == STORE_OK;
    if (!good)
        probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
    *listed =
        good && call.op.page.count > 0 && strcmp(list_page_key(&call.op.page, 0), call.op.key) == 0;
    store_op_deinit(&call.op);
    return good;
}

void probe_check_fresh(struct probe *probe, struct probe_result *result)
{
    for (size_t i = 0; i < FRESH_ROUNDS && !probe_interrupted(probe); i++) {
        char name[32], at[STORE_ERROR_MAX];
        bool listed = false;
        snprintf(name, sizeof(name), "fresh/%zu", i);
        if (!probe_put(probe, result, i, name, name) ||
            !probe_expect(probe, result, i + 1, name, name) ||
            !is_listed(probe, result, i + 1, name, &listed))
            return;
        if (!listed) {
            probe_say(
                result, PROBE_UNFIT,
                "%s%s was just written, and a listing%s lacks it: listings must be up to date",
                probe->report->prefix, name, probe_at(probe, i + 1, at));
            return;
        }
    }
    probe_say(result, PROBE_GOOD, "what is written is read and listed at once");
}

/* ---- delete ---- */

/* False: deleting failed. That is no reason against live runs: producers delete nothing. */
static bool delete_key(struct probe *probe, struct probe_result *result, size_t store,
                       const char *name)
{
    struct probe_call call;
    probe_call_init(probe, &call, STORE_DELETE, store, name);
    probe_send_surely(probe, &call);
    bool good = call.op.outcome == STORE_OK;
    if (!good)
        probe_say(result, PROBE_NOTED, "nothing could be reclaimed here: %s",
                  probe_call_text(&call));
    store_op_deinit(&call.op);
    return good;
}

static bool expect_absent(struct probe *probe, struct probe_result *result, size_t store,
                          const char *name)
{
    struct probe_call call;
    char at[STORE_ERROR_MAX];
    bool listed = false;
    probe_call_init(probe, &call, STORE_GET, store, name);
    probe_send_surely(probe, &call);
    enum store_outcome outcome = call.op.outcome;
    if (outcome == STORE_OK)
        probe_say(result, PROBE_UNFIT, "%s was deleted, and is still read%s", call.op.key,
                  probe_at(probe, store, at));
    else if (outcome != STORE_NOT_FOUND)
        probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
    store_op_deinit(&call.op);
    if (outcome != STORE_NOT_FOUND || !is_listed(probe, result, store, name, &listed))
        return false;
    if (listed)
        probe_say(result, PROBE_UNFIT, "%s%s was deleted, and is still listed%s",
                  probe->report->prefix, name, probe_at(probe, store, at));
    return !listed;
}

void probe_check_delete(struct probe *probe, struct probe_result *result)
{
    for (size_t i = 0; i < probe->options->store_count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "delete/%zu", i);
        if (!probe_put(probe, result, i, name, "text") || !delete_key(probe, result, i + 1, name) ||
            !expect_absent(probe, result, i, name) || !delete_key(probe, result, i, name) ||
            !delete_key(probe, result, i, "delete/never-there"))
            return;
    }
    probe_say(result, PROBE_GOOD, "what is deleted is gone at once; deleting it again is no error");
}

/* ---- clock ---- */

void probe_check_clock(struct probe *probe, struct probe_result *result)
{
    const struct probe_options *options = probe->options;
    int64_t worst_ns = 0;
    if (options->skew_ns == NULL) {
        probe_say(result, PROBE_SKIPPED, "it has no clock of its own");
        return;
    }
    for (size_t i = 0; i < options->store_count; i++) {
        int64_t skew_ns = options->skew_ns(options->stores[i]);
        if (llabs(skew_ns) > llabs(worst_ns))
            worst_ns = skew_ns;
    }
    double seconds = fabs((double)worst_ns / NS_PER_S);
    const char *side = worst_ns > 0 ? "ahead of" : "behind";
    if (llabs(worst_ns) > CLOCK_NOTED_NS)
        probe_say(result, PROBE_NOTED,
                  "the store's clock is %.1f s %s this machine's; one of them should be set right",
                  seconds, side);
    else
        probe_say(result, PROBE_GOOD, "the store's clock and this machine's agree within 2 s");
}
