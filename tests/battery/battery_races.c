/* battery_races.c - many operations at once: creates of one key have one winner, and answers go to
 * whom they belong. Ours. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/battery/battery_cases.h"
#include "tests/battery/battery_request.h"

#define RACERS 48
#define LARGE_RACERS 16
#define LARGE_BYTES ((uint64_t)256 << 10)
#define MIXED 60 /* a multiple of 4 */

void battery_one_winner(const struct store_battery *battery)
{
    struct request *requests = calloc(RACERS, sizeof(*requests));
    CU_ASSERT_PTR_NOT_NULL_FATAL(requests);
    static char bodies[RACERS][8];
    for (int round = 0; round < 5; round++) {
        char key[STORE_KEY_MAX];
        snprintf(key, sizeof(key), "race/%d", round);
        uint32_t waiting = 0;
        for (int i = 0; i < RACERS; i++) {
            snprintf(bodies[i], sizeof(bodies[i]), "%d", i);
            request_init(&requests[i], STORE_PUT_IF_ABSENT, key);
            request_body(&requests[i], bodies[i], strlen(bodies[i]));
            request_submit(battery, &requests[i], &waiting);
        }
        battery_wait(battery, &waiting);
        int winner = -1;
        for (int i = 0; i < RACERS; i++) {
            enum store_outcome outcome = requests[i].op.outcome;
            CU_ASSERT(outcome == STORE_OK || outcome == STORE_EXISTS || outcome == STORE_BUSY);
            CU_ASSERT(outcome != STORE_OK || winner == -1);
            if (outcome == STORE_OK)
                winner = i;
            store_op_deinit(&requests[i].op);
        }
        CU_ASSERT_FATAL(winner >= 0);
        battery_get(battery, key, bodies[winner]);
    }
    free(requests);
}

/* Who has stored the key: its body's first byte; the rest must be the same. */
static int stored_by(const struct store_battery *battery, const char *key)
{
    struct request request;
    request_init(&request, STORE_GET, key);
    request_expect(battery, &request, STORE_OK);
    CU_ASSERT_EQUAL_FATAL(request.op.result.bytes, LARGE_BYTES);
    const uint8_t *data = request.op.result.data;
    int who = data[0];
    CU_ASSERT(memcmp(data, data + 1, LARGE_BYTES - 1) == 0);
    store_op_deinit(&request.op);
    return who;
}

/* A server may refuse before it has read the body, and hang up: then a loser knows nothing. Nobody
 * may be told that it has won but the one whose bytes are stored, whole. */
void battery_one_large_winner(const struct store_battery *battery)
{
    static const char key[] = "large-race/key";
    struct request *requests = calloc(LARGE_RACERS, sizeof(*requests));
    uint8_t *bodies = malloc(LARGE_RACERS * LARGE_BYTES);
    CU_ASSERT_FATAL(requests != NULL && bodies != NULL);
    for (int round = 0; round < 2; round++) {
        uint32_t waiting = 0;
        for (int i = 0; i < LARGE_RACERS; i++) {
            uint8_t *body = bodies + (uint64_t)i * LARGE_BYTES;
            memset(body, round * LARGE_RACERS + i, LARGE_BYTES);
            request_init(&requests[i], STORE_PUT_IF_ABSENT, key);
            request_body(&requests[i], body, LARGE_BYTES);
            request_submit(battery, &requests[i], &waiting);
        }
        battery_wait(battery, &waiting);
        int stored = stored_by(battery, key);
        CU_ASSERT(stored < LARGE_RACERS); /* the second round comes too late */
        for (int i = 0; i < LARGE_RACERS; i++) {
            enum store_outcome outcome = requests[i].op.outcome;
            bool won = round == 0 && i == stored;
            CU_ASSERT(won ? outcome == STORE_OK || outcome == STORE_UNKNOWN
                          : outcome == STORE_EXISTS || outcome == STORE_BUSY ||
                                outcome == STORE_UNKNOWN);
            store_op_deinit(&requests[i].op);
        }
    }
    free(bodies);
    free(requests);
}

/* Each of many keys is created, read, listed and deleted while the others are, too. */
void battery_mixed_at_once(const struct store_battery *battery)
{
    static const enum store_verb verbs[] = {STORE_GET, STORE_LIST, STORE_DELETE,
                                            STORE_PUT_IF_ABSENT};
    static const enum store_outcome outcomes[] = {STORE_OK, STORE_OK, STORE_OK, STORE_EXISTS};
    struct request *requests = calloc(MIXED, sizeof(*requests));
    CU_ASSERT_PTR_NOT_NULL_FATAL(requests);
    uint32_t waiting = 0;
    char key[STORE_KEY_MAX];
    for (uint32_t i = 0; i < MIXED; i++) {
        snprintf(key, sizeof(key), "mixed/%03u", i);
        request_init(&requests[i], STORE_PUT_IF_ABSENT, key);
        request_body(&requests[i], requests[i].op.key, strlen(key));
        request_submit(battery, &requests[i], &waiting);
    }
    battery_wait(battery, &waiting);
    for (uint32_t i = 0; i < MIXED; i++) {
        CU_ASSERT_EQUAL(requests[i].op.outcome, STORE_OK);
        store_op_deinit(&requests[i].op);
        snprintf(key, sizeof(key), "mixed/%03u", i);
        request_init(&requests[i], verbs[i % 4], key);
        request_body(&requests[i], "x", verbs[i % 4] == STORE_PUT_IF_ABSENT ? 1 : 0);
        requests[i].op.list_keys_max = 2;
        request_submit(battery, &requests[i], &waiting);
    }
    battery_wait(battery, &waiting);
    for (uint32_t i = 0; i < MIXED; i++) {
        const struct store_op *op = &requests[i].op;
        CU_ASSERT_EQUAL(op->outcome, outcomes[i % 4]);
        if (op->verb == STORE_GET)
            CU_ASSERT(op->result.bytes == strlen(op->key) &&
                      memcmp(op->result.data, op->key, op->result.bytes) == 0);
        if (op->verb == STORE_LIST)
            CU_ASSERT(op->page.count == 1 && strcmp(list_page_key(&op->page, 0), op->key) == 0);
        store_op_deinit(&requests[i].op);
    }
    free(requests);
}

/* An op is its user's again inside `done`: it can be submitted at once. */
struct chain {
    const struct store_battery *battery;
    struct request request;
    uint32_t waiting;
    uint32_t left;
};

static void chain_step(struct store_op *op, void *context)
{
    struct chain *chain = context;
    CU_ASSERT_FALSE(chain->request.submitting);
    CU_ASSERT_EQUAL(op->outcome, STORE_OK);
    store_op_release(op);
    if (--chain->left == 0) {
        chain->waiting = 0;
        return;
    }
    chain->request.submitting = true;
    store_submit(chain->battery->store, op);
    chain->request.submitting = false;
}

void battery_resubmit_in_done(const struct store_battery *battery)
{
    struct chain chain = {.battery = battery, .waiting = 1, .left = 20};
    request_init(&chain.request, STORE_PUT, "chain/key");
    request_body(&chain.request, "x", 1);
    chain.request.op.done = chain_step;
    chain.request.op.context = &chain;
    chain.request.submitting = true;
    store_submit(battery->store, &chain.request.op);
    chain.request.submitting = false;
    battery_wait(battery, &chain.waiting);
    CU_ASSERT_EQUAL(chain.left, 0);
    store_op_deinit(&chain.request.op);
    battery_get(battery, "chain/key", "x");
}
