/* store_script.h - what becomes of the requests to a scripted store: which outcome is answered,
 * whether a request is applied, or only later, and what happens just before. The first rule that
 * fits decides; where none does, chance, if there is any. */
#ifndef TESTS_CORE_STORE_SCRIPT_H
#define TESTS_CORE_STORE_SCRIPT_H

#include <stdbool.h>

#include "core/random.h"
#include "core/store.h"

#define SCRIPT_RULES_MAX 32
#define ANY_PORT 0

struct scripted_store;

enum request_kind {
    ANY_REQUEST,
    CREATE_VERSION,
    READ_VERSION,
    LIST_NEWER, /* the search */
    LIST_FLOOR, /* the validation */
    PUT_TGB,
    READ_TGB,
    LIST_TGBS,
    DELETE_TGB,
    DELETE_VERSION,
    PUT_FLOOR,
    PUT_INTENT,
    LIST_INTENT,
    TAKE_NUMBER,
    READ_NUMBER,
    LIST_NUMBERS,
    PUT_VALUE, /* or "retired" */
    DELETE_VALUE,
    REQUEST_KIND_COUNT,
};

enum application {
    APPLY,
    DROP,
    APPLY_LATE, /* after `late_requests` more requests of anybody were applied */
};

#define ANSWER(code) .answers = true, .outcome = (code)
#define VERY_LATE 1000000

struct rule {
    enum request_kind kind;
    uint32_t port;    /* ANY_PORT: of anybody; ports count from 1 */
    uint64_t version; /* 0: any */
    uint32_t skip;    /* so many requests that fit go by first */
    uint32_t times;   /* 0: for ever */
    bool answers;     /* answer `outcome`; false: what the store would answer */
    enum store_outcome outcome;
    enum application application;
    uint32_t late_requests;
    void (*before)(struct scripted_store *store, void *context); /* just before it is applied */
    void *context;
};

/* What random faults there are; each a probability. */
struct store_faults {
    double unknown_applied;
    double unknown_dropped;
    double unknown_late;
    double busy;
    double throttled;
    double read_unknown;
};

struct store_script {
    struct rule rules[SCRIPT_RULES_MAX];
    uint32_t rule_count;
    struct store_faults faults;
    struct random_stream random;
};

enum request_kind store_script_kind(const struct store_op *op);
/* Copies the rule. */
void store_script_add(struct store_script *script, const struct rule *rule);
/* The rule for a request from a port, once it is submitted; false: none. */
bool store_script_rule(struct store_script *script, const struct store_op *op, uint32_t port,
                       struct rule *rule);
/* A fault for it, drawn; false: none. */
bool store_script_fault(struct store_script *script, enum store_verb verb, struct rule *fault);

#endif
