/* report_checker.c - reports against the chain. Ours. */
#include "sim/report_checker.h"

#include <inttypes.h>
#include <string.h>

#include "sim/memory.h"

static bool same(const struct incarnation *one, const struct incarnation *other)
{
    return memcmp(one, other, sizeof(*one)) == 0;
}

void report_checker_init(struct report_checker *report, struct violations *violations)
{
    *report = (struct report_checker){.violations = violations, .next_step = 1};
}

void report_checker_deinit(struct report_checker *report)
{
    for (uint32_t i = 0; i < report->life_count; i++)
        free(report->lives[i].sent);
    for (uint32_t i = 0; i < REPORT_PRODUCERS_MAX; i++)
        free(report->streams[i].batches);
}

uint32_t report_checker_add(struct report_checker *report, uint32_t producer,
                            const struct incarnation *incarnation)
{
    assert(report->life_count < REPORT_LIVES_MAX && producer < REPORT_PRODUCERS_MAX);
    report->lives[report->life_count] =
        (struct reported_life){.incarnation = *incarnation, .producer = producer};
    return report->life_count++;
}

/* ---- versions ---- */

static void note_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    (void)step;
    struct report_checker *report = context;
    if (entry->tgb.producer >= REPORT_PRODUCERS_MAX)
        return; /* the steps checker says so */
    struct committed_stream *stream = &report->streams[entry->tgb.producer];
    if (stream->count == stream->capacity) {
        stream->capacity = stream->capacity * 2 + 64;
        stream->batches =
            memory_resize(stream->batches, stream->capacity, sizeof(struct committed));
    }
    stream->batches[stream->count++] = (struct committed){.incarnation = entry->tgb.incarnation,
                                                          .end_offset = entry->tgb.end_offset};
}

static uint64_t end_offset(const struct committed_stream *stream)
{
    return stream->count > 0 ? stream->batches[stream->count - 1].end_offset : 0;
}

static void note_living(struct reported_life *life, const struct manifest *manifest,
                        uint64_t batches, uint64_t bytes)
{
    life->versions++;
    life->last_version = manifest->version;
    life->last_batches = batches;
    life->last_bytes = bytes;
}

void report_checker_version(struct report_checker *report, const struct checked_version *checked)
{
    const struct manifest *manifest = checked->manifest;
    const struct manifest_author *author = &manifest->author;
    bool by_producer =
        manifest->version != MANIFEST_GENESIS_VERSION && author->producer < REPORT_PRODUCERS_MAX;
    struct committed_stream *stream = by_producer ? &report->streams[author->producer] : NULL;
    uint64_t batches = by_producer ? stream->count : 0;
    uint64_t offset = by_producer ? end_offset(stream) : 0;
    report->versions++;
    manifest_visit_entries(manifest, report->next_step, note_entry, report);
    report->next_step = manifest->next_step;
    if (!by_producer)
        return;
    const struct producer_state *state = manifest_state_find(manifest, author->producer);
    if (state != NULL && state->last_commit_ns < stream->commit_ns)
        violations_add(report->violations, checked->now_ns, checked->actor,
                       "report: version %" PRIu64 " puts producer %" PRIu32
                       "'s commit time back from %" PRId64 " to %" PRId64 " ns",
                       manifest->version, author->producer, stream->commit_ns,
                       state->last_commit_ns);
    stream->commit_ns = state != NULL ? state->last_commit_ns : 0;
    stream->epoch = author->epoch;
    stream->incarnation = author->incarnation;
    for (uint32_t i = 0; i < report->life_count; i++)
        if (same(&report->lives[i].incarnation, &author->incarnation))
            note_living(&report->lives[i], manifest, stream->count - batches,
                        end_offset(stream) - offset);
}

/* ---- uploads ---- */

void report_checker_upload(struct report_checker *report, int64_t now_ns, uint32_t actor,
                           const struct store_op *op)
{
    struct tgb_name name;
    if (!name_parse_tgb(op->key, &name) || actor >= report->life_count) {
        violations_add(report->violations, now_ns, actor, "key: %s is no name of a batch", op->key);
        return;
    }
    struct reported_life *life = &report->lives[actor];
    if (!same(&life->incarnation, &name.incarnation) || life->producer != name.producer)
        violations_add(report->violations, now_ns, actor, "key: %s is sent by another incarnation",
                       op->key);
    struct sent_batch sent = {.sequence = name.sequence,
                              .bucket = name.bucket,
                              .end_offset = name.end_offset,
                              .bytes = op->body.bytes};
    for (size_t i = life->sent_count; i > 0; i--) {
        if (life->sent[i - 1].sequence != name.sequence)
            continue;
        if (memcmp(&life->sent[i - 1], &sent, sizeof(sent)) != 0)
            violations_add(report->violations, now_ns, actor,
                           "key: batch %" PRIu64 " is sent again as %s, which is another key or "
                           "size than before",
                           name.sequence, op->key);
        return;
    }
    if (life->sent_count == life->sent_capacity) {
        life->sent_capacity = life->sent_capacity * 2 + 32;
        life->sent = memory_resize(life->sent, life->sent_capacity, sizeof(*life->sent));
    }
    life->sent[life->sent_count++] = sent;
}

/* ---- reports ---- */

/* What a won attempt says that it committed. */
static void check_won(struct report_checker *report, int64_t now_ns, uint32_t life_number,
                      const struct attempt_detail *detail)
{
    const struct reported_life *life = &report->lives[life_number];
    if (detail->version == life->last_version && detail->batches == life->last_batches &&
        detail->bytes == life->last_bytes)
        return;
    violations_add(report->violations, now_ns, life_number,
                   "report: producer %" PRIu32 " says that version %" PRIu64 " holds %" PRIu64
                   " batches of %" PRIu64 " bytes by it; its newest is %" PRIu64 " with %" PRIu64
                   " of %" PRIu64,
                   life->producer, detail->version, detail->batches, detail->bytes,
                   life->last_version, life->last_batches, life->last_bytes);
}

/* Every version up to the newest known at a decision is counted once, as its own or another's: what
 * estimators go by. */
static void check_foreign(struct report_checker *report, int64_t now_ns, uint32_t life_number,
                          const struct attempt_detail *detail)
{
    const struct reported_life *life = &report->lives[life_number];
    uint64_t counted = life->foreign + life->won;
    if (counted >= detail->version && counted <= report->versions)
        return;
    violations_add(report->violations, now_ns, life_number,
                   "report: producer %" PRIu32 " has seen %" PRIu64 " versions of others and "
                   "committed %" PRIu64 "; it knows of version %" PRIu64 ", and %" PRIu64
                   " is the newest",
                   life->producer, life->foreign, life->won, detail->version, report->versions);
}

void report_checker_attempt(struct report_checker *report, int64_t now_ns, uint32_t life_number,
                            const struct attempt *attempt, const struct attempt_detail *detail)
{
    struct reported_life *life = &report->lives[life_number];
    life->won += attempt->outcome == ATTEMPT_WON;
    life->lost += attempt->outcome == ATTEMPT_LOST;
    life->foreign += attempt->foreign_versions;
    if (life->versions != life->won)
        violations_add(report->violations, now_ns, life_number,
                       "report: producer %" PRIu32 " calls its attempt at version %" PRIu64
                       " %s: that makes %" PRIu64 " won, and it has %" PRIu64 " living versions",
                       life->producer, detail->version,
                       attempt->outcome == ATTEMPT_WON ? "won" : "lost", life->won, life->versions);
    else if (attempt->outcome == ATTEMPT_WON)
        check_won(report, now_ns, life_number, detail);
    check_foreign(report, now_ns, life_number, detail);
    if (attempt->tau_ns < 0 || attempt->window_ns < 0 || attempt->window_ns > attempt->tau_ns)
        violations_add(report->violations, now_ns, life_number,
                       "report: an attempt of %" PRId64 " ns has a window of %" PRId64 " ns",
                       attempt->tau_ns, attempt->window_ns);
}

void report_checker_visible(struct report_checker *report, int64_t now_ns, uint32_t life_number,
                            const struct batch *batch)
{
    struct reported_life *life = &report->lives[life_number];
    const struct committed_stream *stream = &report->streams[life->producer];
    const struct committed *committed = NULL;
    if (batch->sequence > 0 && batch->sequence <= stream->count)
        committed = &stream->batches[batch->sequence - 1];
    if (committed == NULL)
        violations_add(report->violations, now_ns, life_number,
                       "report: batch %" PRIu64 " is called visible; the chain is at %zu",
                       batch->sequence, stream->count);
    else if (!same(&committed->incarnation, &life->incarnation) ||
             committed->end_offset != batch->end_offset)
        violations_add(report->violations, now_ns, life_number,
                       "report: batch %" PRIu64 " is called visible; the chain holds another "
                       "incarnation's",
                       batch->sequence);
    if (life->visible > 0 && batch->sequence != life->visible_sequence + 1)
        violations_add(report->violations, now_ns, life_number,
                       "report: batch %" PRIu64 " is called visible after %" PRIu64,
                       batch->sequence, life->visible_sequence);
    life->visible++;
    life->visible_sequence = batch->sequence;
}

void report_checker_fenced(struct report_checker *report, int64_t now_ns, uint32_t life_number,
                           uint32_t epoch)
{
    const struct reported_life *life = &report->lives[life_number];
    const struct committed_stream *stream = &report->streams[life->producer];
    bool taken = stream->epoch > epoch && !same(&stream->incarnation, &life->incarnation);
    if (!taken)
        violations_add(report->violations, now_ns, life_number,
                       "report: producer %" PRIu32 " ends as fenced at epoch %" PRIu32
                       "; the chain is at epoch %" PRIu32,
                       life->producer, epoch, stream->epoch);
}

bool report_checker_holds(const struct report_checker *report, uint32_t life_number)
{
    const struct reported_life *life = &report->lives[life_number];
    const struct committed_stream *stream = &report->streams[life->producer];
    return stream->epoch > 0 && same(&stream->incarnation, &life->incarnation);
}
