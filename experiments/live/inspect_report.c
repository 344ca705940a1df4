/* inspect_report.c - see inspect_report.h. Names from the store are printed only after they were
 * made harmless for a terminal. Ours. */
#include "experiments/live/inspect_report.h"

#include <inttypes.h>
#include <string.h>

#include "experiments/results/table.h"

#define PROBLEMS_SHOWN 20
#define INCARNATION_SHOWN 4 /* bytes */

static void incarnation_text(const struct incarnation *incarnation, size_t bytes, char *text)
{
    for (size_t i = 0; i < bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", incarnation->bytes[i]);
}

/* What came from outside must not move the cursor. */
static void print_harmless(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++)
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stream);
}

static uint64_t total_commits(const struct inspection *inspection)
{
    uint64_t commits = 0;
    for (size_t i = 0; i < inspection->stream_count; i++)
        commits += inspection->streams[i].commits;
    return commits;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- for people ---- */

static void print_marker(const struct inspection *inspection, FILE *stream)
{
    const json_t *marker = inspection->marker;
    const char *experiment = json_string_value(json_object_get(marker, "experiment"));
    const char *arm = json_string_value(json_object_get(marker, "arm"));
    const char *started = json_string_value(json_object_get(marker, "started"));
    if (experiment == NULL || arm == NULL || started == NULL) {
        fprintf(stream, "The run does not say what it was (no run/format).\n");
        return;
    }
    fprintf(stream, "Run: ");
    print_harmless(stream, experiment);
    fprintf(stream, ", arm ");
    print_harmless(stream, arm);
    fprintf(stream, ", seed %lld, started ",
            (long long)json_integer_value(json_object_get(marker, "seed")));
    print_harmless(stream, started);
    fprintf(stream, ".\n");
}

static void print_chain(const struct inspection *inspection, FILE *stream)
{
    uint64_t batches = 0;
    uint64_t bytes = 0;
    uint64_t fences = 0;
    for (size_t i = 0; i < inspection->version_count; i++) {
        const struct inspect_version *version = &inspection->versions[i];
        batches += version->batches;
        bytes += version->batch_bytes;
        fences += version->readable && version->batches == 0 &&
                  version->version != MANIFEST_GENESIS_VERSION;
    }
    if (inspection->version_count == 0) {
        fprintf(stream, "Chain: none.\n");
        return;
    }
    uint64_t commits = total_commits(inspection);
    fprintf(stream,
            "Chain: %zu version%s, %" PRIu64 " to %" PRIu64 ": %" PRIu64
            " commit%s of batches, %" PRIu64 " of epochs alone.\n",
            inspection->version_count, plural(inspection->version_count),
            inspection->versions[0].version,
            inspection->versions[inspection->version_count - 1].version, commits - fences,
            plural(commits - fences), fences);
    if (inspection->floor_listed)
        fprintf(stream,
                "Floor: version %" PRIu64 ", step %" PRIu64 "; %" PRIu64
                " version%s below it still there.\n",
                inspection->floor.version, inspection->floor.step, inspection->versions_below,
                plural(inspection->versions_below));
    if (inspection->intent > 0)
        fprintf(stream, "Intent: reclaimers may give up the steps below %" PRIu64 ".\n",
                inspection->intent);
    fprintf(stream, "Data: %" PRIu64 " batch%s (%.1f MB) of %zu producer%s.\n", batches,
            batches == 1 ? "" : "es", (double)bytes / 1e6, inspection->stream_count,
            plural(inspection->stream_count));
}

static void print_tgbs(const struct inspection *inspection,
                       const struct inspect_report_options *options, FILE *stream)
{
    fprintf(stream,
            "TGBs: %zu (%.1f MB), of which %" PRIu64
            " (%.1f MB) are in no version yet, which is normal, and %" PRIu64
            " (%.1f MB) in none any more, or never will be: gc deletes those.\n",
            inspection->tgb_count, (double)inspection->tgb_bytes / 1e6, inspection->undecided,
            (double)inspection->undecided_bytes / 1e6, inspection->orphans - inspection->undecided,
            (double)(inspection->orphan_bytes - inspection->undecided_bytes) / 1e6);
    if (options->deep)
        fprintf(stream, "Payload: %" PRIu64 " TGBs (%.1f MB) read whole and right.\n",
                inspection->checked, (double)inspection->checked_bytes / 1e6);
    if (inspection->unknown_count == 0)
        return;
    fprintf(stream, "Unknown: %" PRIu64 " object%s of no kind that this program makes:",
            inspection->unknown_count, plural(inspection->unknown_count));
    for (size_t i = 0; i < inspection->unknown_count && i < INSPECT_UNKNOWN_MAX; i++) {
        fprintf(stream, " ");
        print_harmless(stream, inspection->unknown[i]);
    }
    fprintf(stream, "%s\n", inspection->unknown_count > INSPECT_UNKNOWN_MAX ? " ..." : "");
}

static void print_problems(const struct inspection *inspection, FILE *stream)
{
    if (inspection->problem_total == 0) {
        fprintf(stream, "No problem found.\n");
        return;
    }
    fprintf(stream, "%" PRIu64 " problem%s found:\n", inspection->problem_total,
            plural(inspection->problem_total));
    for (size_t i = 0; i < inspection->problem_count && i < PROBLEMS_SHOWN; i++) {
        fprintf(stream, "  ");
        print_harmless(stream, inspection->problems[i].text);
        fprintf(stream, "\n");
    }
    if (inspection->problem_total > PROBLEMS_SHOWN)
        fprintf(stream, "  and %" PRIu64 " more%s\n", inspection->problem_total - PROBLEMS_SHOWN,
                inspection->problem_count > PROBLEMS_SHOWN ? " (--json shows them)" : "");
}

static const char *state_name(enum watermark_state state)
{
    static const char *const names[] = {
        [WATERMARK_NONE] = "none yet", [WATERMARK_HELD] = "holds", [WATERMARK_RETIRED] = "retired"};
    return names[state];
}

static void add_columns(struct table *table, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table_add_column(table, names[i], "", TABLE_PLAIN);
}

static void print_streams(const struct inspection *inspection, FILE *stream)
{
    static const char *const names[] = {"producer", "epoch",  "incarnation", "commits",   "batches",
                                        "sequence", "offset", "gaps",        "duplicates"};
    struct table *table = table_open();
    add_columns(table, names, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < inspection->stream_count; i++) {
        const struct inspect_stream *row = &inspection->streams[i];
        char incarnation[2 * INCARNATION_SHOWN + 1];
        incarnation_text(&row->incarnation, INCARNATION_SHOWN, incarnation);
        table_add_integer(table, row->producer);
        table_add_integer(table, row->epoch);
        table_add_text(table, incarnation);
        table_add_integer(table, (int64_t)row->commits);
        table_add_integer(table, (int64_t)row->batches);
        table_add_integer(table, (int64_t)row->sequence);
        table_add_integer(table, (int64_t)row->offset);
        table_add_integer(table, (int64_t)row->gaps);
        table_add_integer(table, (int64_t)row->duplicates);
    }
    fprintf(stream, "\n");
    table_print(table, TABLE_ALIGNED, stream);
    table_close(table);
}

static void print_consumers(const struct inspection *inspection, FILE *stream)
{
    static const char *const names[] = {"consumer", "watermark", "step", "number", "highest"};
    struct table *table = table_open();
    add_columns(table, names, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < inspection->consumer_count; i++) {
        const struct watermark *row = &inspection->consumers[i];
        table_add_integer(table, row->consumer);
        table_add_text(table, state_name(row->state));
        if (row->state == WATERMARK_HELD)
            table_add_integer(table, (int64_t)row->step);
        else
            table_add_missing(table);
        table_add_integer(table, (int64_t)row->counted);
        table_add_integer(table, (int64_t)row->highest);
    }
    fprintf(stream, "\n");
    table_print(table, TABLE_ALIGNED, stream);
    table_close(table);
}

static void add_version(struct table *table, const struct inspect_version *row)
{
    table_add_integer(table, (int64_t)row->version);
    table_add_integer(table, (int64_t)row->bytes);
    if (!row->readable || row->version == MANIFEST_GENESIS_VERSION) {
        for (int i = 0; i < 6; i++)
            table_add_missing(table);
        return;
    }
    char incarnation[2 * INCARNATION_SHOWN + 1];
    incarnation_text(&row->author.incarnation, INCARNATION_SHOWN, incarnation);
    table_add_integer(table, row->author.producer);
    table_add_integer(table, row->author.epoch);
    table_add_text(table, incarnation);
    table_add_integer(table, (int64_t)row->batches);
    table_add_integer(table, (int64_t)row->live);
    table_add_integer(table, (int64_t)row->first_step);
}

static size_t first_shown(const struct inspection *inspection,
                          const struct inspect_report_options *options)
{
    return inspection->version_count > options->versions
               ? inspection->version_count - (size_t)options->versions
               : 0;
}

static void print_versions(const struct inspection *inspection,
                           const struct inspect_report_options *options, FILE *stream)
{
    static const char *const names[] = {"version",     "bytes",   "author", "epoch",
                                        "incarnation", "batches", "live",   "first_step"};
    struct table *table = table_open();
    size_t first = first_shown(inspection, options);
    add_columns(table, names, sizeof(names) / sizeof(names[0]));
    for (size_t i = first; i < inspection->version_count; i++)
        add_version(table, &inspection->versions[i]);
    fprintf(stream, "\nThe newest %zu of %zu versions:\n", inspection->version_count - first,
            inspection->version_count);
    table_print(table, TABLE_ALIGNED, stream);
    table_close(table);
}

void inspect_report_print(const struct inspection *inspection,
                          const struct inspect_report_options *options, FILE *stream)
{
    fprintf(stream, "%s\n", options->url);
    print_marker(inspection, stream);
    print_chain(inspection, stream);
    print_tgbs(inspection, options, stream);
    print_problems(inspection, stream);
    if (inspection->stream_count > 0)
        print_streams(inspection, stream);
    if (inspection->consumer_count > 0)
        print_consumers(inspection, stream);
    if (inspection->version_count > 0)
        print_versions(inspection, options, stream);
}

/* ---- JSON ---- */

/* Above 2^63 a number would turn negative: such come only from hostile stores. */
static json_t *json_count(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static void add_incarnation(json_t *object, const struct incarnation *incarnation)
{
    char text[2 * INCARNATION_BYTES + 1];
    incarnation_text(incarnation, INCARNATION_BYTES, text);
    json_object_set_new(object, "incarnation", json_string(text));
}

static json_t *json_streams(const struct inspection *inspection)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < inspection->stream_count; i++) {
        const struct inspect_stream *stream = &inspection->streams[i];
        json_t *row = json_object();
        json_object_set_new(row, "producer", json_integer(stream->producer));
        json_object_set_new(row, "epoch", json_integer(stream->epoch));
        add_incarnation(row, &stream->incarnation);
        json_object_set_new(row, "epochs", json_count(stream->epochs));
        json_object_set_new(row, "commits", json_count(stream->commits));
        json_object_set_new(row, "batches", json_count(stream->batches));
        json_object_set_new(row, "bytes", json_count(stream->bytes));
        json_object_set_new(row, "sequence", json_count(stream->sequence));
        json_object_set_new(row, "offset", json_count(stream->offset));
        json_object_set_new(row, "gaps", json_count(stream->gaps));
        json_object_set_new(row, "duplicates", json_count(stream->duplicates));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *json_consumers(const struct inspection *inspection)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < inspection->consumer_count; i++) {
        const struct watermark *consumer = &inspection->consumers[i];
        json_t *row = json_object();
        json_object_set_new(row, "consumer", json_integer(consumer->consumer));
        json_object_set_new(row, "watermark", json_string(state_name(consumer->state)));
        if (consumer->state == WATERMARK_HELD)
            json_object_set_new(row, "step", json_count(consumer->step));
        json_object_set_new(row, "number", json_count(consumer->counted));
        json_object_set_new(row, "highest", json_count(consumer->highest));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *json_versions(const struct inspection *inspection, size_t first)
{
    json_t *rows = json_array();
    for (size_t i = first; i < inspection->version_count; i++) {
        const struct inspect_version *version = &inspection->versions[i];
        json_t *row = json_object();
        json_object_set_new(row, "version", json_count(version->version));
        json_object_set_new(row, "bytes", json_count(version->bytes));
        json_object_set_new(row, "readable", json_boolean(version->readable));
        if (version->readable && version->version != MANIFEST_GENESIS_VERSION) {
            json_object_set_new(row, "author", json_integer(version->author.producer));
            json_object_set_new(row, "epoch", json_integer(version->author.epoch));
            json_object_set_new(row, "attempt", json_count(version->author.attempt));
            add_incarnation(row, &version->author.incarnation);
        }
        json_object_set_new(row, "batches", json_count(version->batches));
        json_object_set_new(row, "live", json_count(version->live));
        json_object_set_new(row, "first_step", json_count(version->first_step));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *json_tgbs(const struct inspection *inspection,
                         const struct inspect_report_options *options)
{
    json_t *tgbs = json_object();
    json_object_set_new(tgbs, "count", json_count(inspection->tgb_count));
    json_object_set_new(tgbs, "bytes", json_count(inspection->tgb_bytes));
    json_object_set_new(tgbs, "orphans", json_count(inspection->orphans));
    json_object_set_new(tgbs, "orphan_bytes", json_count(inspection->orphan_bytes));
    json_object_set_new(tgbs, "undecided", json_count(inspection->undecided));
    json_object_set_new(tgbs, "undecided_bytes", json_count(inspection->undecided_bytes));
    if (options->deep) {
        json_object_set_new(tgbs, "verified", json_count(inspection->checked));
        json_object_set_new(tgbs, "verified_bytes", json_count(inspection->checked_bytes));
    }
    return tgbs;
}

static json_t *json_problems(const struct inspection *inspection)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < inspection->problem_count; i++) {
        json_t *text = json_string(inspection->problems[i].text);
        json_array_append_new(rows, text != NULL ? text : json_string("(a name that is not text)"));
    }
    return rows;
}

void inspect_report_json(const struct inspection *inspection,
                         const struct inspect_report_options *options, FILE *stream)
{
    json_t *report = json_object();
    json_object_set_new(report, "store", json_string(options->url));
    json_object_set(report, "marker",
                    inspection->marker != NULL ? inspection->marker : json_null());
    json_object_set_new(report, "floor_version", json_count(inspection->floor.version));
    json_object_set_new(report, "floor_step", json_count(inspection->floor.step));
    json_object_set_new(report, "intent", json_count(inspection->intent));
    json_object_set_new(report, "version_count", json_count(inspection->version_count));
    json_object_set_new(report, "versions",
                        json_versions(inspection, first_shown(inspection, options)));
    json_object_set_new(report, "producers", json_streams(inspection));
    json_object_set_new(report, "consumers", json_consumers(inspection));
    json_object_set_new(report, "tgbs", json_tgbs(inspection, options));
    json_object_set_new(report, "unknown_count", json_count(inspection->unknown_count));
    json_object_set_new(report, "problem_count", json_count(inspection->problem_total));
    json_object_set_new(report, "problems", json_problems(inspection));
    json_dumpf(report, stream, JSON_INDENT(2));
    fprintf(stream, "\n");
    json_decref(report);
}
