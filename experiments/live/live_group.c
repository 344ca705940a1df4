/* live_group.c - see live_group.h: the barrier. */
#include "experiments/live/live_group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/live/live_group_private.h"
#include "experiments/live/live_marker.h"

void live_group_draw_id(char id[LIVE_GROUP_ID_MAX])
{
    live_marker_draw(id, LIVE_GROUP_ID_MAX);
}

bool live_group_take_ready(const struct live_visit *visit, uint32_t rank, const json_t *message,
                           int64_t now_ns)
{
    const char *failure = json_string_value(json_object_get(message, "failure"));
    int64_t sent_ns;
    if (failure != NULL) {
        char harmless[401];
        live_marker_copy_harmless(harmless, sizeof(harmless), failure);
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "rank %u: %s", rank, harmless);
        return false;
    }
    if (!live_visit_time(visit, message, "now_ns", &sent_ns)) {
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX,
                 "rank %u: that it stands ready is damaged: now_ns is no time", rank);
        return false;
    }
    visit->group->heard_ns[rank] = now_ns - sent_ns;
    return true;
}

/* Looks once for those that were not there before. */
static bool look_for_ready(struct live_visit *visit, bool *got, uint32_t *count)
{
    struct live_group *group = visit->group;
    for (uint32_t rank = 1; rank < group->ranks.count; rank++) {
        if (got[rank])
            continue;
        struct store_op op;
        size_t used;
        json_t *message = NULL;
        enum live_found found = live_visit_get(visit, "ready", rank, LIVE_VISIT_BYTES_MAX, &op);
        int64_t now_ns = live_visit_now(visit);
        if (found == LIVE_FOUND)
            message = live_visit_parse(visit, &op, &used);
        store_op_deinit(&op);
        if (found == LIVE_FOUND_ERROR || (found == LIVE_FOUND && message == NULL))
            return false;
        if (found == LIVE_FOUND_NOTHING)
            continue;
        got[rank] = true;
        (*count)++;
        bool taken = live_group_take_ready(visit, rank, message, now_ns);
        json_decref(message);
        if (!taken)
            return false;
    }
    return true;
}

static enum live_group_end wait_for_ready(struct live_visit *visit)
{
    const struct live_ranks *ranks = &visit->group->ranks;
    bool *got = calloc(ranks->count, sizeof(*got));
    assert(got != NULL);
    uint32_t count = 1;
    enum live_group_end end = LIVE_GROUP_DONE;
    while (count < ranks->count && end == LIVE_GROUP_DONE) {
        char missing[LIVE_MISSING_MAX];
        if (!look_for_ready(visit, got, &count))
            end = LIVE_GROUP_FAILED;
        live_visit_missing(ranks, got, missing);
        if (count < ranks->count && end == LIVE_GROUP_DONE)
            end = live_visit_later(visit, "%s of %u did not stand ready: see what it printed",
                                   missing, ranks->count);
    }
    free(got);
    return end;
}

/* Rank 0: says when, or why not. */
static enum live_group_end open_barrier(struct live_visit *visit, int64_t *start_ns)
{
    enum live_group_end end = wait_for_ready(visit);
    char why[LIVE_GROUP_TEXT_MAX];
    *start_ns = live_visit_now(visit) + visit->group->config->live.lead_ns;
    json_t *message = live_visit_message(visit);
    json_object_set_new(message, "start_ns", json_integer((json_int_t)*start_ns));
    snprintf(why, sizeof(why), "%s", end == LIVE_GROUP_ASKED ? "it was stopped" : visit->text);
    if (end != LIVE_GROUP_DONE)
        json_object_set_new(message, "failure", json_string(why));
    if (!live_visit_put_json(visit, "start", 0, message))
        return LIVE_GROUP_FAILED;
    if (end == LIVE_GROUP_FAILED)
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "%s", why);
    return end;
}

/* A start that is far off by this clock is one by another clock. */
static enum live_group_end check_clock(const struct live_visit *visit, int64_t wait_ns)
{
    int64_t lead_ns = visit->group->config->live.lead_ns;
    if (wait_ns >= -lead_ns && wait_ns <= 2 * lead_ns)
        return LIVE_GROUP_DONE;
    snprintf(
        visit->text, LIVE_GROUP_TEXT_MAX,
        "the run starts %.1f s %s now by this machine's clock, but %.1f s after rank 0 said "
        "so: the clocks differ, or the store is slow; set the clocks (NTP), or raise live.lead",
        fabs((double)wait_ns) / 1e9, wait_ns < 0 ? "before" : "after", (double)lead_ns / 1e9);
    return LIVE_GROUP_FAILED;
}

enum live_group_end live_group_take_start(struct live_visit *visit, const json_t *message,
                                          int64_t *start_ns)
{
    const char *failure = json_string_value(json_object_get(message, "failure"));
    int64_t sent_ns;
    if (failure != NULL) {
        char harmless[301];
        live_marker_copy_harmless(harmless, sizeof(harmless), failure);
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "rank 0 did not start the run: %s", harmless);
        return LIVE_GROUP_FAILED;
    }
    if (!live_visit_time(visit, message, "now_ns", &sent_ns) ||
        !live_visit_time(visit, message, "start_ns", start_ns)) {
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX,
                 "rank 0's start is damaged: its now_ns or start_ns is no time");
        return LIVE_GROUP_FAILED;
    }
    visit->group->start_heard_ns = live_visit_now(visit) - sent_ns;
    return check_clock(visit, *start_ns - live_visit_now(visit));
}

/* The others: say that they are ready, and wait for the start. */
static enum live_group_end wait_for_start(struct live_visit *visit, int64_t *start_ns)
{
    if (!live_visit_put_json(visit, "ready", visit->group->ranks.rank, live_visit_message(visit)))
        return LIVE_GROUP_FAILED;
    visit->group->stood_ready = true;
    for (;;) {
        struct store_op op;
        size_t used;
        json_t *message = NULL;
        enum live_found found = live_visit_get(visit, "start", 0, LIVE_VISIT_BYTES_MAX, &op);
        if (found == LIVE_FOUND)
            message = live_visit_parse(visit, &op, &used);
        store_op_deinit(&op);
        enum live_group_end end = LIVE_GROUP_FAILED;
        if (message != NULL)
            end = live_group_take_start(visit, message, start_ns);
        json_decref(message);
        if (found != LIVE_FOUND_NOTHING)
            return end;
        end = live_visit_later(visit, "rank 0 had not started the run: it is gone, or it waits for "
                                      "others and has more patience");
        if (end != LIVE_GROUP_DONE)
            return end;
    }
}

enum live_group_end live_group_start(struct live_group *group, int64_t *start_ns, int64_t *wait_ns,
                                     char text[LIVE_GROUP_TEXT_MAX])
{
    struct live_visit visit;
    if (!live_visit_open(&visit, group, text))
        return LIVE_GROUP_FAILED;
    enum live_group_end end =
        group->ranks.rank == 0 ? open_barrier(&visit, start_ns) : wait_for_start(&visit, start_ns);
    *wait_ns = end == LIVE_GROUP_DONE ? *start_ns - live_visit_now(&visit) : 0;
    live_visit_close(&visit);
    return end;
}
