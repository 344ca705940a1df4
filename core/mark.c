/* mark.c - see mark.h. Ours. */
#include "core/mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/name.h"

/* What all keys end in that say this of a step: a floor's version stands before it. */
static const char *ending(struct mark mark, char key[STORE_KEY_MAX])
{
    name_intent(key, mark.step);
    return key + strlen(NAME_INTENT_PREFIX);
}

bool mark_borne_out(struct mark mark, uint64_t next_step, char text[MARK_TEXT_MAX])
{
    if (mark.step <= next_step)
        return true;
    char key[STORE_KEY_MAX];
    const char *prefix = NAME_INTENT_PREFIX;
    switch (mark.kind) {
    case MARK_FLOOR:
        prefix = NAME_FLOOR_PREFIX "*-";
        break;
    case MARK_INTENT:
        break;
    }
    snprintf(text, MARK_TEXT_MAX,
             "%s%s gives up the steps below %" PRIu64 ", and the chain ends before step %" PRIu64
             ": nobody wrote it who had read this chain; delete it",
             prefix, ending(mark, key), mark.step, next_step);
    return false;
}
