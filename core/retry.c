/* retry.c - see retry.h. Ours. */
#include "core/retry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/backoff.h"

static bool is_answer(const struct store_op *op)
{
    switch (op->outcome) {
    case STORE_OK:
        return true;
    case STORE_EXISTS:
        return op->verb == STORE_PUT_IF_ABSENT;
    case STORE_NOT_FOUND:
        return op->verb == STORE_GET || op->verb == STORE_DELETE;
    case STORE_BUSY:
    case STORE_UNKNOWN:
    case STORE_THROTTLED:
    case STORE_FAILED:
    case STORE_OUTCOME_COUNT:
        break;
    }
    return false;
}

/* What the store itself says names verb and key, and what to do. */
static void describe(const struct store_op *op, const char *row, char error[STORE_ERROR_MAX])
{
    if (op->error[0] != '\0')
        snprintf(error, STORE_ERROR_MAX, "%s%.*s", row, (int)(STORE_ERROR_MAX - 1 - strlen(row)),
                 op->error);
    else
        snprintf(error, STORE_ERROR_MAX, "%s%s %.120s: %s", row, store_verb_name(op->verb), op->key,
                 store_outcome_text(op->outcome));
}

enum retry_verdict retry_judge(struct retry *retry, const struct store_op *op,
                               char error[STORE_ERROR_MAX])
{
    if (is_answer(op)) {
        retry->row = 0;
        return RETRY_ANSWERED;
    }
    if (!retry_is_open(op->outcome)) {
        describe(op, "", error);
        return RETRY_REFUSED;
    }
    if (++retry->row > retry->row_max) {
        char row[48];
        snprintf(row, sizeof(row), "not answered %" PRIu32 " times in a row: ", retry->row_max);
        describe(op, row, error);
        return RETRY_SILENT;
    }
    retry->total++;
    return RETRY_LATER;
}

int64_t retry_at_ns(const struct retry *retry, uint32_t failures, struct random_stream *random,
                    int64_t now_ns)
{
    int64_t bound_ns = backoff_bound_ns(retry->first_ns, retry->max_ns, failures);
    return now_ns + (int64_t)((double)bound_ns * random_unit(random));
}
