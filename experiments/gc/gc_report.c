/* gc_report.c - see gc_report.h. Ours. */
#include "experiments/gc/gc_report.h"

#include <inttypes.h>
#include <jansson.h>

#include "experiments/results/table.h"
#include "experiments/trials/progress.h"

#define WAIT_USUAL_NS (60 * NS_PER_S)
#define HELD_USUAL_NS (10 * 60 * NS_PER_S) /* a period of checkpoints, and more */
#define AHEAD_S 60.0

/* ---- for people ---- */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static int64_t bucket_age_ns(uint64_t bucket, const struct gc_report_options *options)
{
    return options->now_ns - (int64_t)bucket * TGB_BUCKET_NS;
}

/* Of the oldest step that is not given up; 0: all are. */
static int64_t oldest_age_ns(const struct reclaim_report *report,
                             const struct gc_report_options *options)
{
    return report->oldest_bucket > 0 ? bucket_age_ns(report->oldest_bucket, options) : 0;
}

static void print_watermark(const struct reclaim_report *report,
                            const struct gc_report_options *options, FILE *stream)
{
    char age[PROGRESS_TEXT_MAX];
    int64_t oldest_ns = oldest_age_ns(report, options);
    if (report->watermark == 0) {
        fprintf(stream, "Watermark: none; %s.\n",
                report->missing > 0 ? "somebody is missing" : "no consumer holds anything");
        return;
    }
    fprintf(stream,
            "Watermark: step %" PRIu64 ", held by consumer %u, the lowest of %u; the newest step "
            "is %" PRIu64,
            report->watermark, report->holder, report->consumers, report->next_step - 1);
    if (oldest_ns > 0) {
        progress_duration_text((double)oldest_ns / 1e9, age);
        fprintf(stream, "; the oldest batch that is not given up was made %s ago", age);
    }
    fprintf(stream, ".\n");
    if (oldest_ns >= HELD_USUAL_NS && report->missing == 0)
        fprintf(stream, "If consumer %u will not come back:\n  %s --retire-consumer %u\n",
                report->holder, options->command, report->holder);
}

static void print_missing(const struct reclaim_report *report,
                          const struct gc_report_options *options, FILE *stream)
{
    if (report->missing == 0 && report->consumers > 0)
        return;
    if (report->missing == 0) {
        fprintf(stream, "Nothing is given up while no consumer says what it needs.\n");
        return;
    }
    fprintf(stream,
            "Nothing is given up: %u consumer%s %s no watermark, the first is %u. Start it; if it "
            "is not to come:\n  %s --retire-consumer %u\n",
            report->missing, plural(report->missing), report->missing == 1 ? "has" : "have",
            report->first_missing, options->command, report->first_missing);
}

static void add_kind(struct table *table, const char *kind, uint64_t objects, uint64_t bytes)
{
    table_add_text(table, kind);
    table_add_integer(table, (int64_t)objects);
    table_add_number(table, (double)bytes / 1e6);
}

static void print_deleted(const struct reclaim_report *report,
                          const struct gc_report_options *options, FILE *stream)
{
    struct table *table = table_open();
    table_add_column(table, options->mode == RECLAIM_DRY_RUN ? "would_delete" : "deleted", "",
                     TABLE_PLAIN);
    table_add_column(table, "objects", "", TABLE_PLAIN);
    table_add_column(table, "size", "MB", TABLE_PLAIN);
    add_kind(table, "TGBs of steps given up", report->tgbs - report->orphans,
             report->tgb_bytes - report->orphan_bytes);
    add_kind(table, "TGBs that lost", report->orphans, report->orphan_bytes);
    add_kind(table, "versions", report->versions, report->version_bytes);
    add_kind(table, "old floors and intents", report->markers, 0);
    table_print(table, TABLE_ALIGNED, stream);
    table_close(table);
}

/* Longer than TGBs usually wait for their commit, whatever --grace is: a producer that is well is
 * not to be retired. */
static bool waits_long(const struct reclaim_undecided *undecided,
                       const struct gc_report_options *options)
{
    int64_t usual_ns = options->grace_ns > WAIT_USUAL_NS ? options->grace_ns : WAIT_USUAL_NS;
    return bucket_age_ns(undecided->oldest_bucket, options) >= usual_ns;
}

/* Producers whose oldest TGB waits long; the oldest comes first. */
static void print_undecided(const struct reclaim_report *report,
                            const struct gc_report_options *options, FILE *stream)
{
    if (report->undecided_count == 0 || !waits_long(&report->undecided_of[0], options))
        return;
    struct table *table = table_open();
    table_add_column(table, "producer", "", TABLE_PLAIN);
    table_add_column(table, "undecided", "TGBs", TABLE_PLAIN);
    table_add_column(table, "size", "MB", TABLE_PLAIN);
    table_add_column(table, "oldest", "s ago", TABLE_PLAIN);
    for (uint32_t i = 0; i < report->undecided_count; i++) {
        const struct reclaim_undecided *row = &report->undecided_of[i];
        if (!waits_long(row, options))
            continue;
        table_add_integer(table, row->producer);
        table_add_integer(table, (int64_t)row->tgbs);
        table_add_number(table, (double)row->bytes / 1e6);
        table_add_number(table, (double)(bucket_age_ns(row->oldest_bucket, options) / NS_PER_S));
    }
    fprintf(stream, "\n");
    table_print(table, TABLE_ALIGNED, stream);
    table_close(table);
    fprintf(stream, "They stay. If a producer will not come back:\n  %s --retire-producer %u\n",
            options->command, report->undecided_of[0].producer);
}

/* TGBs of a producer whose clock was ahead once: their buckets are, and those of what follows. By
 * how much in seconds, with `text`; 0: no such TGB waits. */
static double ahead_of_clock(const struct reclaim_report *report,
                             const struct gc_report_options *options, char text[PROGRESS_TEXT_MAX])
{
    double ahead_s = -(double)bucket_age_ns(report->young_bucket, options) / 1e9;
    if (report->young == 0 || ahead_s < AHEAD_S)
        return 0;
    progress_duration_text(ahead_s, text);
    return ahead_s;
}

static void print_ahead(const struct reclaim_report *report,
                        const struct gc_report_options *options, FILE *stream)
{
    char ahead[PROGRESS_TEXT_MAX];
    if (ahead_of_clock(report, options, ahead) == 0)
        return;
    fprintf(stream,
            "The newest of them is %s ahead of this machine's clock: was a producer's clock wrong? "
            "--grace 0s\ndeletes them.\n",
            ahead);
}

static void print_rest(const struct reclaim_report *report, const struct gc_report_options *options,
                       FILE *stream)
{
    if (report->undecided > 0)
        fprintf(stream, "Not committed as of version %" PRIu64 ": %" PRIu64 " TGB%s (%.1f MB).\n",
                report->newest, report->undecided, plural(report->undecided),
                (double)report->undecided_bytes / 1e6);
    if (report->young > 0)
        fprintf(stream, "Left for later, younger than --grace: %" PRIu64 " TGB%s.\n", report->young,
                plural(report->young));
    print_ahead(report, options, stream);
    if (report->abandoned > 0)
        fprintf(stream, "Left for later, not answered: %" PRIu64 " deletion%s.\n",
                report->abandoned, plural(report->abandoned));
    if (report->foreign > 0)
        fprintf(stream, "Not of this program, left alone: %" PRIu64 " object%s.\n", report->foreign,
                plural(report->foreign));
}

void gc_report_print(const struct reclaim_report *report, const struct gc_report_options *options,
                     FILE *stream)
{
    fprintf(stream, "%s\n", options->url);
    if (report->end == RECLAIM_EMPTY) {
        fprintf(stream, "There is no version yet: nothing to do.\n");
        return;
    }
    fprintf(stream,
            "Floor: version %" PRIu64 ", step %" PRIu64 "%s; the newest version is %" PRIu64 ".\n",
            report->floor.version, report->floor.step,
            options->mode == RECLAIM_DRY_RUN ? ", as it would be" : "", report->newest);
    print_watermark(report, options, stream);
    print_missing(report, options, stream);
    print_deleted(report, options, stream);
    print_rest(report, options, stream);
    print_undecided(report, options, stream);
}

/* What a loop has seen itself, and who to retire once it was long. */
static void line_watermark(const struct reclaim_report *report,
                           const struct gc_report_options *options, FILE *stream)
{
    char held[PROGRESS_TEXT_MAX];
    fprintf(stream, "; watermark %" PRIu64 " of consumer %u", report->watermark, report->holder);
    if (report->held_ns == 0)
        return;
    progress_duration_text((double)report->held_ns / 1e9, held);
    fprintf(stream, ", unmoved for %s", held);
    if (report->held_ns >= HELD_USUAL_NS && report->missing == 0)
        fprintf(stream, " (if it will not come back: %s --retire-consumer %u)", options->command,
                report->holder);
}

void gc_report_line(const struct reclaim_report *report, const struct gc_report_options *options,
                    FILE *stream)
{
    char ahead[PROGRESS_TEXT_MAX];
    fprintf(stream, "floor: version %" PRIu64 ", step %" PRIu64, report->floor.version,
            report->floor.step);
    if (report->watermark > 0)
        line_watermark(report, options, stream);
    fprintf(stream,
            "; newest step %" PRIu64 "; %s %" PRIu64 " TGB%s (%.1f MB), %" PRIu64
            " of them lost ones, %" PRIu64 " version%s, %" PRIu64 " marker%s",
            report->next_step > 0 ? report->next_step - 1 : 0,
            options->mode == RECLAIM_DRY_RUN ? "would delete" : "deleted", report->tgbs,
            plural(report->tgbs), (double)report->tgb_bytes / 1e6, report->orphans,
            report->versions, plural(report->versions), report->markers, plural(report->markers));
    if (report->young > 0)
        fprintf(stream, "; %" PRIu64 " younger than --grace", report->young);
    if (ahead_of_clock(report, options, ahead) > 0)
        fprintf(stream, ", the newest %s ahead of this clock (--grace 0s deletes them)", ahead);
    if (report->undecided > 0)
        fprintf(stream, "; %" PRIu64 " not committed", report->undecided);
    if (report->missing > 0)
        fprintf(stream, "; %u missing, the first is consumer %u", report->missing,
                report->first_missing);
    fprintf(stream, "\n");
}

/* ---- JSON ---- */

static json_t *json_count(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *json_seconds(int64_t time_ns)
{
    return json_real((double)time_ns / 1e9);
}

static json_t *json_undecided(const struct reclaim_report *report,
                              const struct gc_report_options *options)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < report->undecided_count; i++) {
        const struct reclaim_undecided *undecided = &report->undecided_of[i];
        json_t *row = json_object();
        json_object_set_new(row, "producer", json_integer(undecided->producer));
        json_object_set_new(row, "tgbs", json_count(undecided->tgbs));
        json_object_set_new(row, "bytes", json_count(undecided->bytes));
        json_object_set_new(row, "oldest_s",
                            json_seconds(bucket_age_ns(undecided->oldest_bucket, options)));
        json_array_append_new(rows, row);
    }
    return rows;
}

void gc_report_json(const struct reclaim_report *report, const char *error,
                    const struct gc_report_options *options, FILE *stream)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"newest", report->newest},
        {"next_step", report->next_step},
        {"floor_version", report->floor.version},
        {"floor_step", report->floor.step},
        {"watermark", report->watermark},
        {"holder", report->holder},
        {"consumers", report->consumers},
        {"retired", report->retired},
        {"missing", report->missing},
        {"first_missing", report->first_missing},
        {"versions", report->versions},
        {"version_bytes", report->version_bytes},
        {"tgbs", report->tgbs},
        {"tgb_bytes", report->tgb_bytes},
        {"orphans", report->orphans},
        {"orphan_bytes", report->orphan_bytes},
        {"markers", report->markers},
        {"live", report->live},
        {"young", report->young},
        {"undecided", report->undecided},
        {"undecided_bytes", report->undecided_bytes},
        {"foreign", report->foreign},
        {"abandoned", report->abandoned},
        {"retried", report->retried},
    };
    char ahead[PROGRESS_TEXT_MAX];
    json_t *root = json_object();
    json_object_set_new(root, "store", json_string(options->url));
    json_object_set_new(root, "dry_run", json_boolean(options->mode == RECLAIM_DRY_RUN));
    json_object_set_new(root, "end", json_string(reclaim_end_name(report->end)));
    json_object_set_new(root, "full", json_boolean(report->full));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        json_object_set_new(root, counts[i].name, json_count(counts[i].value));
    json_object_set_new(root, "held_s", json_seconds(report->held_ns));
    json_object_set_new(root, "oldest_s", json_seconds(oldest_age_ns(report, options)));
    json_object_set_new(root, "ahead_s", json_real(ahead_of_clock(report, options, ahead)));
    json_object_set_new(root, "undecided_of", json_undecided(report, options));
    json_object_set_new(root, "error", error[0] != '\0' ? json_string(error) : json_null());
    json_dumpf(root, stream, JSON_COMPACT);
    fprintf(stream, "\n");
    json_decref(root);
}
