/* calibrate_place.c - see calibrate_place.h. Ours. */
#include "experiments/calibrate/calibrate_place.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/live_marker.h"

#define AT_ONCE 16
#define TRIES_MAX 8 /* pages that are met again although each of their keys was deleted */
#define FILE_SCHEME "file://"
#define OPEN_FOLDERS 16

bool calibrate_place_choose(const char *store, char url[LIVE_URL_MAX])
{
    char id[17];
    size_t length = strlen(store);
    if (length + 32 > LIVE_URL_MAX)
        return false;
    live_marker_draw(id, sizeof(id));
    snprintf(url, LIVE_URL_MAX, "%s%scalibrate-%s", store,
             length > 0 && store[length - 1] == '/' ? "" : "/", id);
    return true;
}

/* One page of keys, so many deletions at once. */
struct cleaning {
    struct live_session session;
    struct store_op list;
    struct store_op deletes[AT_ONCE];
    size_t next; /* of the page */
    uint32_t running;
    uint64_t deleted;
    struct live_signals *signals;
    char *error;
    bool failed;
};

/* What is in flight then is dropped when the session is closed. */
static void on_signal(int fd, unsigned ready, void *context)
{
    struct cleaning *cleaning = context;
    (void)fd;
    (void)ready;
    if (live_signals_take(cleaning->signals) < CALIBRATE_CLEAN_SIGNALS)
        return;
    cleaning->failed = true;
    snprintf(cleaning->error, CALIBRATE_ERROR_MAX, "the cleaning was stopped as asked");
    live_loop_stop(cleaning->session.loop);
}

static void delete_next(struct cleaning *cleaning, struct store_op *op)
{
    if (cleaning->failed || cleaning->next == cleaning->list.page.count) {
        if (cleaning->running == 0)
            live_loop_stop(cleaning->session.loop);
        return;
    }
    op->verb = STORE_DELETE;
    snprintf(op->key, sizeof(op->key), "%s", list_page_key(&cleaning->list.page, cleaning->next++));
    cleaning->running++;
    store_submit(cleaning->session.bytes, op);
}

static void deleted(struct store_op *op, void *context)
{
    struct cleaning *cleaning = context;
    cleaning->running--;
    if (op->outcome == STORE_OK || op->outcome == STORE_NOT_FOUND) {
        cleaning->deleted++;
    } else if (op->outcome == STORE_FAILED) {
        cleaning->failed = true;
        snprintf(cleaning->error, CALIBRATE_ERROR_MAX, "%s", live_session_error(op));
    }
    store_op_release(op);
    delete_next(cleaning, op);
}

static void delete_page(struct cleaning *cleaning)
{
    cleaning->next = 0;
    for (size_t i = 0; i < AT_ONCE; i++)
        if (cleaning->next < cleaning->list.page.count)
            delete_next(cleaning, &cleaning->deletes[i]);
    loop_run(live_session_loop(&cleaning->session), TIME_NEVER);
}

static bool empty(struct cleaning *cleaning)
{
    struct store_op *list = &cleaning->list;
    int tries = 0;
    while (!cleaning->failed) {
        list->verb = STORE_LIST;
        list->list_keys_max = STORE_LIST_KEYS_MAX;
        live_session_do(&cleaning->session, cleaning->session.bytes, list);
        if (cleaning->failed)
            break;
        if (list->outcome == STORE_OK && list->page.count == 0)
            return true;
        uint64_t before = cleaning->deleted;
        if (list->outcome == STORE_OK)
            delete_page(cleaning);
        tries = cleaning->deleted > before ? 0 : tries + 1;
        if (!cleaning->failed && (list->outcome == STORE_FAILED || tries == TRIES_MAX)) {
            cleaning->failed = true;
            snprintf(cleaning->error, CALIBRATE_ERROR_MAX, "%s", live_session_error(list));
        }
        store_op_release(list);
    }
    return false;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

bool calibrate_place_clean(const char *url, const struct live_session_options *options,
                           struct live_signals *signals, uint64_t *deleted_count,
                           char error[CALIBRATE_ERROR_MAX])
{
    struct live_session_options brief = *options;
    struct cleaning *cleaning = calloc(1, sizeof(*cleaning));
    assert(cleaning != NULL);
    cleaning->signals = signals;
    cleaning->error = error;
    *deleted_count = 0;
    brief.s3.operation_ns = CALIBRATE_CLEAN_NS;
    bool clean = live_session_open(url, &brief, &cleaning->session, error) == OPEN_OK;
    if (clean) {
        live_loop_watch(cleaning->session.loop, signals->fd, LIVE_READABLE, on_signal, cleaning);
        store_op_init(&cleaning->list);
        for (size_t i = 0; i < AT_ONCE; i++) {
            store_op_init(&cleaning->deletes[i]);
            cleaning->deletes[i].done = deleted;
            cleaning->deletes[i].context = cleaning;
        }
        clean = empty(cleaning);
        *deleted_count = cleaning->deleted;
        live_session_close(&cleaning->session);
        store_op_deinit(&cleaning->list);
        for (size_t i = 0; i < AT_ONCE; i++)
            store_op_deinit(&cleaning->deletes[i]);
    }
    free(cleaning);
    if (clean && strncmp(url, FILE_SCHEME, strlen(FILE_SCHEME)) == 0)
        (void)nftw(url + strlen(FILE_SCHEME), remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    return clean;
}
