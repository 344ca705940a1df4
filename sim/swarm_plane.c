/* swarm_plane.c - operations of the data plane are told by who sends them, verb and key. Ours. */
#include "sim/swarm_plane.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/name.h"

static const enum plane_side sides[] = {
#define X(code, side, verb, name) side,
    PLANE_OPERATIONS(X)
#undef X
};

static const enum store_verb verbs[] = {
#define X(code, side, verb, name) verb,
    PLANE_OPERATIONS(X)
#undef X
};

const char *plane_operation_name(enum plane_operation operation)
{
    static const char *const names[] = {
#define X(code, side, verb, name) name,
        PLANE_OPERATIONS(X)
#undef X
    };
    assert(operation < PLANE_OPERATION_COUNT);
    return names[operation];
}

const char *plane_turn_name(enum plane_turn turn)
{
    static const char *const names[] = {
#define X(code, name) name,
        PLANE_TURNS(X)
#undef X
    };
    assert(turn < PLANE_TURN_COUNT);
    return names[turn];
}

static bool begins(const char *key, const char *prefix)
{
    return strncmp(key, prefix, strlen(prefix)) == 0;
}

static enum plane_operation rank_operation(const struct store_op *op)
{
    struct watermark_name name;
    if (begins(op->key, NAME_TGB_PREFIX))
        return PLANE_GET_SLICE;
    if (op->verb == STORE_LIST) {
        if (begins(op->key, NAME_WATERMARK_PREFIX))
            return PLANE_LIST_NUMBERS;
        if (begins(op->key, NAME_INTENT_PREFIX))
            return PLANE_RANK_LIST_INTENT;
        return begins(op->key, NAME_FLOOR_PREFIX) ? PLANE_RANK_LIST_FLOOR
                                                  : PLANE_RANK_LIST_VERSIONS;
    }
    if (!name_parse_watermark(op->key, &name))
        return PLANE_RANK_GET_VERSION;
    switch (op->verb) {
    case STORE_PUT_IF_ABSENT:
        return PLANE_TAKE_NUMBER;
    case STORE_GET:
        return PLANE_JUDGE_NUMBER;
    case STORE_DELETE:
        return PLANE_DELETE_VALUE;
    case STORE_PUT:
        return name.part == WATERMARK_NUMBER_RETIRED ? PLANE_PUT_RETIRED : PLANE_PUT_VALUE;
    case STORE_LIST:
    case STORE_VERB_COUNT:
        break;
    }
    return PLANE_OPERATION_COUNT;
}

static enum plane_operation reclaimer_operation(const struct store_op *op)
{
    uint64_t version;
    bool tgb = begins(op->key, NAME_TGB_PREFIX);
    switch (op->verb) {
    case STORE_LIST:
        if (tgb)
            return PLANE_LIST_TGBS;
        if (begins(op->key, NAME_WATERMARK_PREFIX))
            return PLANE_LIST_WATERMARKS;
        return strcmp(op->key, NAME_MANIFEST_PREFIX) == 0 ? PLANE_LIST_VERSIONS
                                                          : PLANE_LIST_MARKERS;
    case STORE_GET:
        return PLANE_GET_VERSION;
    case STORE_PUT:
        return begins(op->key, NAME_INTENT_PREFIX) ? PLANE_PUT_INTENT : PLANE_PUT_FLOOR;
    case STORE_DELETE:
        if (tgb)
            return PLANE_DELETE_TGB;
        return name_parse_version(op->key, &version) ? PLANE_DELETE_VERSION : PLANE_DELETE_MARKER;
    case STORE_PUT_IF_ABSENT:
    case STORE_VERB_COUNT:
        break;
    }
    return PLANE_OPERATION_COUNT;
}

void swarm_plane_note(struct swarm_plane *plane, enum plane_side side, enum fault_kind kind,
                      const struct store_op *op)
{
    enum plane_operation operation =
        side == PLANE_RANK ? rank_operation(op) : reclaimer_operation(op);
    assert(operation < PLANE_OPERATION_COUNT);
    assert(verbs[operation] == op->verb && sides[operation] == side);
    plane->done[operation]++;
    if (kind != FAULT_NONE)
        plane->hit[operation][kind]++;
}

void swarm_plane_add(struct swarm_plane *plane, const struct swarm_plane *other)
{
    for (int operation = 0; operation < PLANE_OPERATION_COUNT; operation++) {
        plane->done[operation] += other->done[operation];
        for (int kind = 0; kind < FAULT_KIND_COUNT; kind++)
            plane->hit[operation][kind] += other->hit[operation][kind];
    }
    for (int turn = 0; turn < PLANE_TURN_COUNT; turn++)
        plane->turns[turn] += other->turns[turn];
}

/* A line at the end of the text, if there is room for it. */
__attribute__((format(printf, 4, 5))) static void say(char *text, size_t text_bytes, size_t *used,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int wrote = vsnprintf(text + *used, text_bytes - *used, format, arguments);
    va_end(arguments);
    *used += wrote > 0 && (size_t)wrote < text_bytes - *used ? (size_t)wrote : 0;
}

uint32_t swarm_plane_missing(const struct swarm_plane *plane, uint64_t at_least, char *text,
                             size_t text_bytes)
{
    uint32_t missing = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int operation = 0; operation < PLANE_OPERATION_COUNT; operation++) {
        for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
            uint64_t hit = plane->hit[operation][kind];
            if (!fault_kind_hits((enum fault_kind)kind, verbs[operation]) || hit >= at_least)
                continue;
            if (kind >= FAULT_FIRST_OF_DAMAGE && operation != PLANE_GET_SLICE)
                continue; /* of other objects the store's word is taken */
            missing++;
            say(text, text_bytes, &used, "  %s hit \"%s\" %" PRIu64 " times\n",
                fault_kind_name((enum fault_kind)kind),
                plane_operation_name((enum plane_operation)operation), hit);
        }
    }
    for (int turn = 0; turn < PLANE_TURN_COUNT; turn++) {
        if (plane->turns[turn] >= at_least)
            continue;
        missing++;
        say(text, text_bytes, &used, "  \"%s\" happened %" PRIu64 " times\n",
            plane_turn_name((enum plane_turn)turn), plane->turns[turn]);
    }
    return missing;
}
