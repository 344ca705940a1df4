/* probe_list.c - the checks of listings and of keys, and the cleaning, which needs both. Ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/probe/probe_checks.h"

#define LISTED_KEYS 1001 /* one more than a page of S3 holds */
#define STEP 701         /* from one key to the next that is written: no divisor in common */
#define BATCH PROBE_WRITERS
#define PAGES_MAX 400
#define CLEAN_PAGES 5

/* Keys of a chain look like these: digits, and a word that sorts behind them. */
static void listed_name(size_t index, char name[32])
{
    snprintf(name, 32, index + 1 < LISTED_KEYS ? "list/%08zu" : "list/floor-%08zu", 2 * index);
}

static bool put_listed(struct probe *probe, struct probe_result *result)
{
    struct probe_call *calls = calloc(BATCH, sizeof(*calls));
    assert(calls != NULL);
    bool good = true;
    for (size_t from = 0; good && from < LISTED_KEYS; from += BATCH) {
        size_t count = LISTED_KEYS - from < BATCH ? LISTED_KEYS - from : BATCH;
        for (size_t i = 0; i < count; i++) {
            char name[32];
            listed_name((from + i) * STEP % LISTED_KEYS, name); /* in no order */
            probe_call_init(probe, &calls[i], STORE_PUT, i, name);
            probe_call_body(&calls[i], "seven b", (from + i) * STEP % LISTED_KEYS % 7);
        }
        probe_send(probe, calls, count);
        for (size_t i = 0; i < count; i++) {
            if (probe_undecided(calls[i].op.outcome))
                probe_send_surely(probe, &calls[i]);
            if (calls[i].op.outcome != STORE_OK)
                probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&calls[i]));
            store_op_deinit(&calls[i].op);
        }
        good = result->verdict != PROBE_UNFIT && !probe_interrupted(probe);
    }
    free(calls);
    return good;
}

/* Keys from `next` on, in order, with their sizes. */
static bool check_page(struct probe *probe, struct probe_result *result,
                       const struct list_page *page, size_t *next)
{
    for (size_t i = 0; i < page->count; i++) {
        char name[32], key[STORE_KEY_MAX];
        listed_name(*next, name);
        snprintf(key, sizeof(key), "%s%s", probe->report->prefix, name);
        if (*next == LISTED_KEYS || strcmp(list_page_key(page, i), key) != 0 ||
            page->object_bytes[i] != *next % 7) {
            probe_say(result, PROBE_UNFIT,
                      "a listing shows %.100s of %llu bytes, not %.100s of %zu",
                      list_page_key(page, i), (unsigned long long)page->object_bytes[i],
                      *next == LISTED_KEYS ? "the end" : key, *next % 7);
            return false;
        }
        ++*next;
    }
    return true;
}

/* Lists from `next` on by pages of `keys_max`; each page begins after the last key of the one
 * before, as the protocol asks. */
static bool check_pages(struct probe *probe, struct probe_result *result, uint32_t keys_max,
                        size_t next, const char *after)
{
    struct probe_call call;
    bool good = true;
    bool more = true;
    probe_call_init(probe, &call, STORE_LIST, 0, "list/");
    call.op.list_keys_max = keys_max;
    if (after[0] != '\0')
        snprintf(call.op.after, STORE_KEY_MAX, "%s%s", probe->report->prefix, after);
    for (size_t pages = 0; good && more && !probe_interrupted(probe); pages++) {
        probe_send_surely(probe, &call);
        const struct list_page *page = &call.op.page;
        if (call.op.outcome != STORE_OK)
            probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
        else if (page->count > keys_max || (page->truncated && page->count == 0) ||
                 pages == PAGES_MAX)
            probe_say(result, PROBE_UNFIT, "a page of %u keys has %zu, and says that %s follow",
                      keys_max, page->count, page->truncated ? "more" : "none");
        good = result->verdict != PROBE_UNFIT && check_page(probe, result, page, &next);
        more = page->truncated;
        if (good && more)
            snprintf(call.op.after, STORE_KEY_MAX, "%s", list_page_key(page, page->count - 1));
    }
    store_op_deinit(&call.op);
    if (good && !probe_interrupted(probe) && next != LISTED_KEYS) {
        probe_say(result, PROBE_UNFIT, "a listing of %d keys ends after %zu", LISTED_KEYS, next);
        good = false;
    }
    return good;
}

void probe_check_list(struct probe *probe, struct probe_result *result)
{
    char middle[32], last[32];
    listed_name(500, middle);
    listed_name(LISTED_KEYS - 2, last);
    if (!put_listed(probe, result) || !check_pages(probe, result, STORE_LIST_KEYS_MAX, 0, "") ||
        !check_pages(probe, result, 333, 0, "") ||
        !check_pages(probe, result, STORE_LIST_KEYS_MAX, 501, middle) ||
        !check_pages(probe, result, 7, LISTED_KEYS - 1, last) ||
        /* A key that is not there: between 500 and 501. */
        !check_pages(probe, result, STORE_LIST_KEYS_MAX, 501, "list/00001001"))
        return;
    probe_say(result, PROBE_GOOD, "%d keys come in order, by pages, from any key on", LISTED_KEYS);
}

/* ---- keys ---- */

/* Whether the key can be written, read and listed under exactly this name. */
static bool round_trips(struct probe *probe, const char *name)
{
    struct probe_call call;
    probe_call_init(probe, &call, STORE_PUT, 0, name);
    probe_call_body(&call, name, strlen(name));
    probe_send_surely(probe, &call);
    bool good = call.op.outcome == STORE_OK;
    store_op_deinit(&call.op);
    if (!good)
        return false;
    probe_call_init(probe, &call, STORE_GET, 0, name);
    probe_send_surely(probe, &call);
    good = probe_call_holds(&call, name, strlen(name));
    store_op_deinit(&call.op);
    if (!good)
        return false;
    probe_call_init(probe, &call, STORE_LIST, 0, name);
    probe_send_surely(probe, &call);
    good = call.op.outcome == STORE_OK && call.op.page.count > 0 &&
           strcmp(list_page_key(&call.op.page, 0), call.op.key) == 0;
    store_op_deinit(&call.op);
    return good;
}

/* Those that a run's keys are made of, at their longest. */
static bool check_long_key(struct probe *probe, struct probe_result *result)
{
    char name[STORE_KEY_MAX];
    size_t bytes = STORE_KEY_MAX - 1 - strlen(probe->report->prefix);
    static const char made_of[] = "tgb/0123456789abcdef-";
    for (size_t i = 0; i < bytes; i++)
        name[i] = i < 4 ? made_of[i] : made_of[4 + i % (sizeof(made_of) - 5)];
    name[bytes] = '\0';
    if (round_trips(probe, name))
        return true;
    probe_say(result, PROBE_UNFIT, "a key of %d bytes cannot be written, read and listed",
              STORE_KEY_MAX - 1);
    return false;
}

/* No key of a run is like these; a store that changes them changes others' keys as well. */
void probe_check_keys(struct probe *probe, struct probe_result *result)
{
    static const char *const odd[] = {
        "odd/a b",   "odd/a+b",
        "odd/a=b",   "odd/a%b",
        "odd/a%2Fb", "odd/a&b",
        "odd/a~b",   "odd/a?b",
        "odd/a#b",   "odd/a:@;,$!*'()b",
        "odd/a//b",  "odd/a<b",
        "odd/a\"b",  "odd/\xc3\xbc\xe2\x82\xac",
    };
    char refused[128] = "";
    size_t count = sizeof(odd) / sizeof(odd[0]);
    size_t refused_count = 0;
    if (!check_long_key(probe, result))
        return;
    for (size_t i = 0; i < count && !probe_interrupted(probe); i++) {
        if (round_trips(probe, odd[i]))
            continue;
        refused_count++;
        size_t used = strlen(refused);
        snprintf(refused + used, sizeof(refused) - used, " '%s'", odd[i] + strlen("odd/"));
    }
    if (refused_count == 0)
        probe_say(result, PROBE_GOOD, "long ones and %zu odd ones come back as they are", count);
    else
        probe_say(result, PROBE_NOTED,
                  "long ones do, but %zu of %zu odd ones, which no run uses, do not:%s",
                  refused_count, count, refused);
}

/* ---- clean ---- */

/* Deletes so many keys below the prefix by one store; returns how many could not be, and why the
 * first could not. */
static size_t delete_keys(struct probe *probe, size_t store, char (*keys)[STORE_KEY_MAX],
                          size_t key_count, char text[STORE_ERROR_MAX])
{
    struct probe_call *calls = calloc(BATCH, sizeof(*calls));
    assert(calls != NULL);
    size_t left = 0;
    size_t prefix_bytes = strlen(probe->report->prefix);
    for (size_t from = 0; from < key_count; from += BATCH) {
        size_t count = key_count - from < BATCH ? key_count - from : BATCH;
        for (size_t i = 0; i < count; i++)
            probe_call_init(probe, &calls[i], STORE_DELETE, store, keys[from + i] + prefix_bytes);
        probe_send(probe, calls, count);
        for (size_t i = 0; i < count; i++) {
            if (probe_undecided(calls[i].op.outcome))
                probe_send_surely(probe, &calls[i]);
            /* A key that could not be written may not be deleted either. */
            if (calls[i].op.outcome != STORE_OK && left++ == 0)
                snprintf(text, STORE_ERROR_MAX, "%s", probe_call_text(&calls[i]));
            store_op_deinit(&calls[i].op);
        }
    }
    free(calls);
    return left;
}

/* Keys that a store still lists, at most a page of them, to be freed; NULL: none. */
static char (*list_left(struct probe *probe, size_t store, size_t *count))[STORE_KEY_MAX]
{
    struct probe_call call;
    char(*keys)[STORE_KEY_MAX] = NULL;
    probe_call_init(probe, &call, STORE_LIST, store, "");
    probe_send_surely(probe, &call);
    *count = call.op.outcome == STORE_OK ? call.op.page.count : 0;
    if (*count > 0) {
        keys = malloc(*count * sizeof(*keys));
        assert(keys != NULL);
    }
    for (size_t i = 0; i < *count; i++)
        snprintf(keys[i], STORE_KEY_MAX, "%s", list_page_key(&call.op.page, i));
    store_op_deinit(&call.op);
    return keys;
}

/* What a store still lists, though all was deleted: it may be another than the first, or late.
 * Returns how many are left. */
static size_t delete_listed(struct probe *probe, size_t store, char text[STORE_ERROR_MAX])
{
    size_t count = 0;
    size_t failed = 0;
    for (int page = 0; page < CLEAN_PAGES && failed == 0; page++) {
        char(*keys)[STORE_KEY_MAX] = list_left(probe, store, &count);
        if (count == 0)
            return 0;
        failed = delete_keys(probe, store, keys, count, text);
        free(keys);
    }
    return count;
}

void probe_check_clean(struct probe *probe, struct probe_result *result)
{
    char text[STORE_ERROR_MAX] = "";
    char ignored[STORE_ERROR_MAX];
    size_t left = 0;
    (void)delete_keys(probe, 0, probe->keys, probe->key_count, ignored);
    for (size_t store = 0; store < probe->options->store_count; store++)
        left += delete_listed(probe, store, text);
    if (left > 0)
        probe_say(result, PROBE_NOTED, "%zu objects are left below %s; remove them: %s", left,
                  probe->report->prefix, text);
    else
        probe_say(result, PROBE_GOOD, "all of %zu keys are deleted, nothing is left",
                  probe->key_count);
}
