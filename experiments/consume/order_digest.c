/* order_digest.c - see order_digest.h. Ours. */
#include "experiments/consume/order_digest.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/digest_chain.h"
#include "core/tgb.h"
#include "experiments/consume/rank_log.h"
#include "experiments/consume/slice_check.h"

/* ---- the order ---- */

/* The newest sequence number of a producer. */
struct stream {
    uint32_t producer;
    uint64_t sequence;
};

struct streams {
    size_t count;
    size_t capacity;
    struct stream *items;
};

static void *grow(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity > 0 ? 2 * *capacity : 64;
    void *grown = realloc(array, *capacity * element_bytes);
    assert(grown != NULL);
    return grown;
}

static struct stream *find_stream(const struct streams *streams, uint32_t producer)
{
    for (size_t i = 0; i < streams->count; i++)
        if (streams->items[i].producer == producer)
            return &streams->items[i];
    return NULL;
}

/* The first that is seen of a producer is 1 where the order is there from its start. */
static bool check_sequence(struct streams *streams, const struct order *order,
                           const struct order_line *line, char error[ORDER_DIGEST_TEXT_MAX])
{
    struct stream *stream = find_stream(streams, line->producer);
    uint64_t expected = stream != NULL              ? stream->sequence + 1
                        : order->lines[0].step == 1 ? 1
                                                    : line->sequence;
    if (stream == NULL) {
        streams->items =
            grow(streams->items, streams->count, &streams->capacity, sizeof(*streams->items));
        stream = &streams->items[streams->count++];
        stream->producer = line->producer;
    }
    stream->sequence = line->sequence;
    if (line->sequence == expected)
        return true;
    snprintf(error, ORDER_DIGEST_TEXT_MAX,
             "step %" PRIu64 ": sequence %" PRIu64 " of producer %u, where %" PRIu64
             " would be next: %s",
             line->step, line->sequence, line->producer, expected,
             line->sequence < expected ? "it is there twice" : "one is missing");
    return false;
}

bool order_read(const char *path, struct order *order, char error[ORDER_DIGEST_TEXT_MAX])
{
    struct order_file file;
    struct order_line line;
    struct streams streams = {0};
    *order = (struct order){.path = path};
    if (!order_file_open(&file, path, error))
        return false;
    enum order_next next;
    bool right = true;
    while (right && (next = order_file_next(&file, &line, error)) == ORDER_LINE) {
        if (order->count == 0)
            order->first_line = file.line;
        order->lines = grow(order->lines, order->count, &order->capacity, sizeof(*order->lines));
        order->lines[order->count++] = line;
        right = check_sequence(&streams, order, &line, error);
    }
    right = right && next == ORDER_END;
    if (right && order->count == 0) {
        snprintf(error, ORDER_DIGEST_TEXT_MAX, "%.400s holds no step", path);
        right = false;
    }
    order_file_close(&file);
    free(streams.items);
    return right;
}

void order_deinit(struct order *order)
{
    free(order->lines);
    *order = (struct order){0};
}

const struct order_line *order_at(const struct order *order, uint64_t step)
{
    if (order->count == 0 || step < order->lines[0].step ||
        step - order->lines[0].step >= order->count)
        return NULL;
    return &order->lines[step - order->lines[0].step];
}

/* ---- digests ---- */

static bool set_range(const struct order *order, struct order_digest *digest,
                      char error[ORDER_DIGEST_TEXT_MAX])
{
    uint64_t end = order->lines[0].step + order->count;
    if (digest->next == 0)
        digest->next = end;
    if (digest->first >= order->lines[0].step && digest->next <= end &&
        digest->first <= digest->next)
        return true;
    snprintf(error, ORDER_DIGEST_TEXT_MAX,
             "the steps %" PRIu64 " to %" PRIu64 " are asked for; the order has %" PRIu64
             " to %" PRIu64,
             digest->first, digest->next - 1, order->lines[0].step, end - 1);
    return false;
}

/* Whoever can write the file could ask for hours of bytes by one number. */
static bool check_sizes(const struct order *order, const struct order_digest *digest,
                        char error[ORDER_DIGEST_TEXT_MAX])
{
    uint64_t least = digest->slices > 0 ? tgb_layout_object_bytes(digest->slices, 1) : 0;
    uint64_t most = slice_check_tgb_max(digest->slices);
    for (uint64_t step = digest->first; step < digest->next; step++) {
        uint64_t bytes = order_at(order, step)->tgb_bytes;
        if (bytes >= least && bytes <= most)
            continue;
        snprintf(error, ORDER_DIGEST_TEXT_MAX,
                 "%.400s:%" PRIu64 ": %" PRIu64 " bytes are %s for a batch of %u slices, which has "
                 "%" PRIu64 " to %" PRIu64,
                 order->path, order->first_line + (step - order->lines[0].step), bytes,
                 bytes < least ? "too few" : "too many", digest->slices, least, most);
        return false;
    }
    return true;
}

bool order_digest_make(const struct order *order, struct order_digest *digest,
                       char error[ORDER_DIGEST_TEXT_MAX])
{
    struct slice_check check = {.slices = digest->slices, .slice = digest->rank};
    struct slice_expected expected;
    uint64_t value = 0;
    digest->values = NULL;
    if (!set_range(order, digest, error) || !check_sizes(order, digest, error))
        return false;
    digest->values = calloc(digest->next - digest->first + 1, sizeof(*digest->values));
    assert(digest->values != NULL);
    for (uint64_t step = digest->first; step < digest->next; step++) {
        const struct order_line *line = order_at(order, step);
        bool fits =
            slice_expected_of(&check, line->producer, line->sequence, line->tgb_bytes, &expected);
        assert(fits);
        value = digest_chain_next(value, step, expected.checksum);
        digest->values[step - digest->first] = value;
    }
    return true;
}

void order_digest_deinit(struct order_digest *digest)
{
    free(digest->values);
    digest->values = NULL;
}

uint64_t order_digest_before(const struct order_digest *digest, uint64_t step)
{
    assert(step >= digest->first && step <= digest->next);
    return step == digest->first ? 0 : digest->values[step - digest->first - 1];
}

/* ---- logs ---- */

struct log_check {
    const struct order *order;
    struct order_digest digest;
    struct order_lives *lives;
    uint64_t expected; /* step of the next line; 0: a start must come */
};

static bool check_start(struct log_check *check, const struct rank_line *line,
                        char error[ORDER_DIGEST_TEXT_MAX])
{
    struct order_lives *lives = check->lives;
    if (lives->lives++ == 0) {
        lives->first = lives->next = line->step;
        check->digest.first = line->step;
        if (!order_digest_make(check->order, &check->digest, error))
            return false;
    }
    if (line->step < lives->first || line->step > lives->next) {
        snprintf(error, ORDER_DIGEST_TEXT_MAX,
                 "a life starts at step %" PRIu64 ", and those before it were at %" PRIu64
                 " to %" PRIu64,
                 line->step, lives->first, lives->next);
        return false;
    }
    check->expected = line->step;
    if (line->digest == order_digest_before(&check->digest, line->step))
        return true;
    snprintf(error, ORDER_DIGEST_TEXT_MAX,
             "a life starts at step %" PRIu64 " with digest %016" PRIx64
             ", but the committed order gives %016" PRIx64,
             line->step, line->digest, order_digest_before(&check->digest, line->step));
    return false;
}

static bool check_step(struct log_check *check, const struct rank_line *line,
                       char error[ORDER_DIGEST_TEXT_MAX])
{
    const struct order_line *order = order_at(check->order, line->step);
    struct order_lives *lives = check->lives;
    if (order == NULL || line->step != check->expected) {
        snprintf(error, ORDER_DIGEST_TEXT_MAX, "step %" PRIu64 " was given, %s %" PRIu64 " %s",
                 line->step, order == NULL ? "but" : "where",
                 order == NULL ? check->order->lines[0].step + check->order->count - 1
                               : check->expected,
                 order == NULL ? "is the order's last" : "was next");
        return false;
    }
    uint64_t digest = order_digest_before(&check->digest, line->step + 1);
    if (line->producer != order->producer || line->epoch != order->epoch ||
        line->sequence != order->sequence || line->digest != digest) {
        snprintf(error, ORDER_DIGEST_TEXT_MAX,
                 "step %" PRIu64 ": given was sequence %" PRIu64 " of producer %u (epoch %u), "
                 "digest %016" PRIx64 "; the committed order has sequence %" PRIu64
                 " of producer %u (epoch %u), digest %016" PRIx64,
                 line->step, line->sequence, line->producer, line->epoch, line->digest,
                 order->sequence, order->producer, order->epoch, digest);
        return false;
    }
    check->expected++;
    lives->given++;
    lives->next = check->expected > lives->next ? check->expected : lives->next;
    return true;
}

static bool check_lines(struct log_check *check, struct rank_log *log,
                        char error[ORDER_DIGEST_TEXT_MAX])
{
    struct rank_line line;
    for (;;) {
        switch (rank_log_next(log, &line)) {
        case RANK_LOG_END:
            return true;
        case RANK_LOG_DAMAGED:
            snprintf(error, ORDER_DIGEST_TEXT_MAX, "it is no line of a log");
            return false;
        case RANK_LOG_LINE:
            break;
        }
        if (!line.start && check->lives->lives == 0) {
            snprintf(error, ORDER_DIGEST_TEXT_MAX, "the log does not begin with a start");
            return false;
        }
        if (line.start ? !check_start(check, &line, error) : !check_step(check, &line, error))
            return false;
    }
}

bool order_check_log(const struct order *order, uint32_t slices, uint32_t rank, const char *folder,
                     struct order_lives *lives, char error[ORDER_DIGEST_TEXT_MAX])
{
    struct log_check check = {
        .order = order, .digest = {.slices = slices, .rank = rank}, .lives = lives};
    struct rank_log log;
    char reason[ORDER_DIGEST_TEXT_MAX] = "";
    *lives = (struct order_lives){0};
    if (!rank_log_read(&log, folder, rank, error))
        return false;
    bool right = check_lines(&check, &log, reason);
    if (right && lives->lives == 0) {
        snprintf(reason, sizeof(reason), "it is empty");
        right = false;
    }
    if (!right)
        snprintf(error, ORDER_DIGEST_TEXT_MAX, "%.200s/rank-%u.log:%" PRIu64 ": %.480s", folder,
                 rank, log.line, reason);
    else
        lives->digest = order_digest_before(&check.digest, lives->next);
    rank_log_close(&log);
    order_digest_deinit(&check.digest);
    return right;
}
