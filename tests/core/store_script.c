/* store_script.c - rules that are used up, and dice. Ours. */
#include "tests/core/store_script.h"

#include <string.h>

#include "core/name.h"

/* By verb, in the order of the enum. */
struct key_kinds {
    const char *prefix;
    enum request_kind kinds[STORE_VERB_COUNT];
};

static const struct key_kinds key_kinds[] = {
    {NAME_FLOOR_PREFIX, {ANY_REQUEST, PUT_FLOOR, ANY_REQUEST, LIST_FLOOR, ANY_REQUEST}},
    {NAME_MANIFEST_PREFIX, {READ_VERSION, ANY_REQUEST, CREATE_VERSION, LIST_NEWER, DELETE_VERSION}},
    {NAME_TGB_PREFIX, {READ_TGB, PUT_TGB, ANY_REQUEST, LIST_TGBS, DELETE_TGB}},
    {NAME_INTENT_PREFIX, {ANY_REQUEST, PUT_INTENT, ANY_REQUEST, LIST_INTENT, ANY_REQUEST}},
    {NAME_WATERMARK_PREFIX, {READ_NUMBER, PUT_VALUE, TAKE_NUMBER, LIST_NUMBERS, DELETE_VALUE}},
};

enum request_kind store_script_kind(const struct store_op *op)
{
    for (size_t i = 0; i < sizeof(key_kinds) / sizeof(key_kinds[0]); i++)
        if (strncmp(op->key, key_kinds[i].prefix, strlen(key_kinds[i].prefix)) == 0)
            return key_kinds[i].kinds[op->verb];
    return ANY_REQUEST;
}

void store_script_add(struct store_script *script, const struct rule *rule)
{
    assert(script->rule_count < SCRIPT_RULES_MAX);
    script->rules[script->rule_count++] = *rule;
}

static bool fits(const struct rule *rule, const struct store_op *op, uint32_t port)
{
    uint64_t version = 0;
    if (rule->version != 0 && (!name_parse_version(op->key, &version) || version != rule->version))
        return false;
    return (rule->kind == ANY_REQUEST || rule->kind == store_script_kind(op)) &&
           (rule->port == ANY_PORT || rule->port == port);
}

bool store_script_rule(struct store_script *script, const struct store_op *op, uint32_t port,
                       struct rule *found)
{
    for (uint32_t i = 0; i < script->rule_count; i++) {
        struct rule *rule = &script->rules[i];
        if (!fits(rule, op, port))
            continue;
        if (rule->skip > 0) {
            rule->skip--;
            continue;
        }
        *found = *rule;
        if (rule->times > 0 && --rule->times == 0) {
            memmove(rule, rule + 1, (script->rule_count - i - 1) * sizeof(*rule));
            script->rule_count--;
        }
        return true;
    }
    return false;
}

static bool fault_of(struct rule *fault, enum store_outcome outcome, enum application application,
                     uint32_t late)
{
    *fault = (struct rule){
        .answers = true, .outcome = outcome, .application = application, .late_requests = late};
    return true;
}

bool store_script_fault(struct store_script *script, enum store_verb verb, struct rule *fault)
{
    const struct store_faults *faults = &script->faults;
    double draw = random_unit(&script->random);
    bool writes = verb == STORE_PUT_IF_ABSENT || verb == STORE_PUT;
    if (!writes)
        return draw < faults->read_unknown && fault_of(fault, STORE_UNKNOWN, DROP, 0);
    uint32_t late = 1 + (uint32_t)(random_next(&script->random) % 40);
    if ((draw -= faults->unknown_applied) < 0)
        return fault_of(fault, STORE_UNKNOWN, APPLY, 0);
    if ((draw -= faults->unknown_dropped) < 0)
        return fault_of(fault, STORE_UNKNOWN, DROP, 0);
    if ((draw -= faults->unknown_late) < 0)
        return fault_of(fault, STORE_UNKNOWN, APPLY_LATE, late);
    if ((draw -= faults->busy) < 0)
        return fault_of(fault, STORE_BUSY, DROP, 0);
    if ((draw -= faults->throttled) < 0)
        return fault_of(fault, STORE_THROTTLED, random_next(&script->random) % 2 ? APPLY : DROP, 0);
    return false;
}
