/* probe_race.c - the checks that decide whether a chain may be committed here at all: a create of a
 * key that exists, and many creates of one key at once. Every body is distinct, so that the stored
 * one tells who won, whatever was answered. Ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/probe/probe_checks.h"

#define SMALL_BYTES 64
#define LARGE_BYTES (96 << 10) /* above 64 KiB some servers refuse before the body is read */
#define LARGE_EVERY 5          /* rounds */

/* ---- one after the other ---- */

/* Creates the key; false: the result says why it could not be done. */
static bool create_first(struct probe *probe, struct probe_result *result, size_t store,
                         const char *name, const char *text)
{
    struct probe_call call;
    char at[STORE_ERROR_MAX];
    probe_call_init(probe, &call, STORE_PUT_IF_ABSENT, store, name);
    probe_call_body(&call, text, strlen(text));
    probe_send_surely(probe, &call);
    /* Sent twice it may have met itself: what is stored tells. */
    bool good = call.op.outcome == STORE_OK || call.op.outcome == STORE_EXISTS;
    if (!good)
        probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
    store_op_deinit(&call.op);
    if (!good)
        return false;
    probe_call_init(probe, &call, STORE_GET, store, name);
    probe_send_surely(probe, &call);
    good = probe_call_holds(&call, text, strlen(text));
    if (!good)
        probe_say(result, PROBE_UNFIT, "a key that was created is not stored%s: %s",
                  probe_at(probe, store, at), probe_call_text(&call));
    store_op_deinit(&call.op);
    return good;
}

/* Creates it again, with another body. */
static bool create_again(struct probe *probe, struct probe_result *result, size_t store,
                         const char *name, const char *text)
{
    static const char other[] = "written by the second create";
    struct probe_call call;
    char at[STORE_ERROR_MAX];
    probe_call_init(probe, &call, STORE_PUT_IF_ABSENT, store, name);
    probe_call_body(&call, other, strlen(other));
    probe_send_surely(probe, &call);
    enum store_outcome outcome = call.op.outcome;
    if (outcome == STORE_OK && probe->options->store_count > 1)
        probe_say(result, PROBE_UNFIT,
                  "both of two creates on one key were accepted, the second%s: If-None-Match is "
                  "ignored, or the endpoints are not one store",
                  probe_at(probe, store, at));
    else if (outcome == STORE_OK)
        probe_say(result, PROBE_UNFIT,
                  "the store ignores If-None-Match: both of two creates on one key were accepted");
    else if (outcome != STORE_EXISTS)
        probe_say(result, PROBE_UNFIT, "%s", probe_call_text(&call));
    store_op_deinit(&call.op);
    if (outcome != STORE_EXISTS)
        return false;
    return probe_expect(probe, result, store, name, text);
}

void probe_check_create(struct probe *probe, struct probe_result *result)
{
    static const char text[] = "written by the first create";
    size_t count = probe->options->store_count;
    for (size_t i = 0; i < count && !probe_interrupted(probe); i++) {
        char name[32];
        snprintf(name, sizeof(name), "create/%zu", i);
        if (!create_first(probe, result, i, name, text) ||
            !create_again(probe, result, i + 1, name, text))
            return;
    }
    if (!probe_put(probe, result, 0, "create/put", text) ||
        !create_again(probe, result, count - 1, "create/put", text))
        return;
    probe_say(result, PROBE_GOOD, "the second of two creates is refused, and changes nothing");
}

/* ---- at the same moment ---- */

struct race {
    struct probe *probe;
    struct probe_result *result;
    struct probe_call *calls; /* PROBE_WRITERS */
    uint8_t *bodies;          /* LARGE_BYTES each */
    uint64_t body_bytes;      /* in this round */
    uint32_t round;           /* from 0 */
    uint32_t late;            /* rounds whose winner was told that the key exists */
    uint64_t counts[STORE_OUTCOME_COUNT];
    int64_t *took_ns; /* of the creates that were decided at once */
    size_t took_count;
};

static uint8_t *race_body(const struct race *race, size_t writer)
{
    return race->bodies + writer * LARGE_BYTES;
}

static void fill_bodies(struct race *race)
{
    race->body_bytes = (race->round + 1) % LARGE_EVERY == 0 ? LARGE_BYTES : SMALL_BYTES;
    for (size_t i = 0; i < PROBE_WRITERS; i++) {
        uint64_t word = random_next(&race->probe->random);
        for (uint64_t at = 0; at < race->body_bytes; at += sizeof(word)) {
            memcpy(race_body(race, i) + at, &word, sizeof(word));
            word = random_mix(word + i);
        }
    }
}

static void init_calls(struct race *race)
{
    char name[32];
    snprintf(name, sizeof(name), "race/%05u", race->round);
    for (size_t i = 0; i < PROBE_WRITERS; i++) {
        probe_call_init(race->probe, &race->calls[i], STORE_PUT_IF_ABSENT, i, name);
        probe_call_body(&race->calls[i], race_body(race, i), race->body_bytes);
    }
}

static void deinit_calls(struct race *race)
{
    for (size_t i = 0; i < PROBE_WRITERS; i++)
        store_op_deinit(&race->calls[i].op);
}

/* Of the answers; the number of those who were told that they had won. */
static size_t count_winners(struct race *race, size_t *winner)
{
    size_t count = 0;
    for (size_t i = 0; i < PROBE_WRITERS; i++) {
        const struct probe_call *call = &race->calls[i];
        race->counts[call->op.outcome]++;
        if (call->op.outcome == STORE_OK || call->op.outcome == STORE_EXISTS)
            race->took_ns[race->took_count++] = call->took_ns;
        if (call->op.outcome == STORE_FAILED || call->op.outcome == STORE_NOT_FOUND)
            probe_say(race->result, PROBE_UNFIT, "%s", probe_call_text(call));
        if (call->op.outcome == STORE_OK) {
            *winner = i;
            count++;
        }
    }
    return count;
}

/* The first winner behind `from` that came another way than the one at `from`. */
static size_t next_elsewhere(const struct race *race, size_t from)
{
    size_t other = from;
    while (other < PROBE_WRITERS && (race->calls[other].op.outcome != STORE_OK ||
                                     race->calls[other].store == race->calls[from].store))
        other++;
    return other;
}

static void say_many_winners(struct race *race, size_t count)
{
    const char *const *names = race->probe->options->names;
    char why[STORE_ERROR_MAX] = "creates are not atomic here";
    size_t first = 0;
    while (race->calls[first].op.outcome != STORE_OK)
        first++;
    size_t other = next_elsewhere(race, first);
    if (count == PROBE_WRITERS)
        snprintf(why, sizeof(why), "the store ignores If-None-Match");
    else if (other < PROBE_WRITERS)
        snprintf(why, sizeof(why), "%.80s and %.80s do not heed each other's",
                 names[race->calls[first].store], names[race->calls[other].store]);
    probe_say(race->result, PROBE_UNFIT,
              "%zu of %d writers won one key, in round %u: %s; a chain would fork", count,
              PROBE_WRITERS, race->round + 1, why);
}

/* Who wrote what is stored; PROBE_WRITERS: none of them. False: the result says why it cannot be
 * told. */
static bool read_winner(struct race *race, size_t store, size_t *winner, bool *absent)
{
    struct probe_call call;
    char name[32], at[STORE_ERROR_MAX];
    snprintf(name, sizeof(name), "race/%05u", race->round);
    probe_call_init(race->probe, &call, STORE_GET, store, name);
    probe_send_surely(race->probe, &call);
    *winner = 0;
    *absent = call.op.outcome == STORE_NOT_FOUND;
    while (*winner < PROBE_WRITERS &&
           !probe_call_holds(&call, race_body(race, *winner), race->body_bytes))
        ++*winner;
    bool read = call.op.outcome == STORE_OK || *absent;
    if (!read)
        probe_say(race->result, PROBE_UNFIT, "%s", probe_call_text(&call));
    else if (!*absent && *winner == PROBE_WRITERS)
        probe_say(race->result, PROBE_UNFIT,
                  "in round %u no writer's body is stored%s, but another: %llu bytes of %llu",
                  race->round + 1, probe_at(race->probe, store, at),
                  (unsigned long long)call.op.result.bytes, (unsigned long long)race->body_bytes);
    store_op_deinit(&call.op);
    return read && race->result->verdict != PROBE_UNFIT;
}

/* Nobody won, and nothing is stored: those who were told to try again do. */
static bool send_undecided(struct race *race, uint32_t tries)
{
    size_t undecided = 0;
    for (size_t i = 0; i < PROBE_WRITERS; i++)
        if (probe_undecided(race->calls[i].op.outcome))
            undecided++;
    if (undecided == 0 || tries == PROBE_TRIES_MAX) {
        probe_say(race->result, PROBE_UNFIT,
                  "nobody won a key, in round %u: %zu writers were told that it exists, %zu got no "
                  "decision, and nothing is stored",
                  race->round + 1, PROBE_WRITERS - undecided, undecided);
        return false;
    }
    deinit_calls(race);
    probe_back_off(race->probe, tries);
    init_calls(race);
    probe_send(race->probe, race->calls, PROBE_WRITERS);
    return true;
}

/* Every way to the store shows the same winner, and it is who was told so. */
static bool check_stored(struct race *race, size_t told, size_t told_count, bool *absent)
{
    size_t first = PROBE_WRITERS;
    char at[STORE_ERROR_MAX];
    for (size_t store = 0; store < race->probe->options->store_count; store++) {
        size_t stored;
        if (!read_winner(race, store, &stored, absent))
            return false;
        if (*absent && told_count == 0 && store == 0)
            return true;
        if (*absent || (store > 0 && stored != first) || (told_count == 1 && stored != told)) {
            probe_say(race->result, PROBE_UNFIT, "in round %u %s%s: %s", race->round + 1,
                      *absent ? "what the winner wrote is not there"
                              : "another's body is stored than the winner's",
                      probe_at(race->probe, store, at),
                      race->probe->options->store_count > 1
                          ? "are the endpoints of one store, and its reads up to date?"
                          : "a commit could be lost");
            return false;
        }
        first = stored;
    }
    race->late += told_count == 0 && race->calls[first].op.outcome == STORE_EXISTS;
    return true;
}

/* False: the race is over, the result says why. */
static bool run_round(struct race *race)
{
    fill_bodies(race);
    init_calls(race);
    probe_send(race->probe, race->calls, PROBE_WRITERS);
    bool good = true;
    bool absent = true;
    for (uint32_t tries = 1; good && absent; tries++) {
        size_t told = PROBE_WRITERS;
        size_t count = count_winners(race, &told);
        if (count > 1)
            say_many_winners(race, count);
        good = race->result->verdict != PROBE_UNFIT && check_stored(race, told, count, &absent);
        if (good && absent)
            good = send_undecided(race, tries);
    }
    deinit_calls(race);
    return good;
}

static int compare_ns(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void say_race(struct race *race)
{
    const uint64_t *counts = race->counts;
    uint64_t undecided = counts[STORE_BUSY] + counts[STORE_UNKNOWN] + counts[STORE_THROTTLED];
    qsort(race->took_ns, race->took_count, sizeof(*race->took_ns), compare_ns);
    double median_ms = 0, worst_ms = 0;
    if (race->took_count > 0) {
        median_ms = (double)race->took_ns[race->took_count / 2] / NS_PER_MS;
        worst_ms = (double)race->took_ns[race->took_count - 1] / NS_PER_MS;
    }
    char more[128] = "";
    if (undecided > 0)
        snprintf(more, sizeof(more), "; %llu answers decided nothing",
                 (unsigned long long)undecided);
    probe_say(race->result, race->late > 0 ? PROBE_NOTED : PROBE_GOOD,
              "%u rounds of %d writers: one won each; median %.3g ms, worst %.3g ms%s%s",
              race->round, PROBE_WRITERS, median_ms, worst_ms, more,
              race->late > 0 ? "; some who won were told that the key exists" : "");
}

void probe_check_race(struct probe *probe, struct probe_result *result)
{
    uint32_t rounds = probe->options->rounds;
    size_t answers = (size_t)rounds * PROBE_WRITERS * PROBE_TRIES_MAX;
    struct race race = {
        .probe = probe,
        .result = result,
        .calls = calloc(PROBE_WRITERS, sizeof(*race.calls)),
        .bodies = malloc((size_t)PROBE_WRITERS * LARGE_BYTES),
        .took_ns = malloc(answers * sizeof(*race.took_ns)),
    };
    assert(race.calls != NULL);
    assert(race.bodies != NULL);
    assert(race.took_ns != NULL);
    bool good = true;
    while (good && race.round < rounds && !probe_interrupted(probe)) {
        good = run_round(&race);
        race.round += good;
    }
    if (good && race.round > 0)
        say_race(&race);
    free(race.calls);
    free(race.bodies);
    free(race.took_ns);
}
