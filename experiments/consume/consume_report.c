/* consume_report.c - see consume_report.h. Ours. */
#include "experiments/consume/consume_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "experiments/results/table.h"

#define DIGEST_TEXT_MAX 17

static double ratio(double value, double by)
{
    return by > 0 ? value / by : NAN;
}

static uint64_t requests_of(const struct consumer_counters *counters)
{
    uint64_t requests = 0;
    for (int i = 0; i < CONSUMER_REQUEST_COUNT; i++)
        requests += counters->requests[i];
    return requests;
}

static double milliseconds(int64_t ns)
{
    return ns >= 0 ? (double)ns / 1e6 : NAN;
}

/* What moved for slices, over what those that were used hold. */
static double amplification(const struct consumer_counters *counters)
{
    return ratio((double)counters->bytes[CONSUMER_REQUEST_SLICE], (double)counters->slice_bytes);
}

/* All that came over HTTP, over the same. */
static double wire_amplification(const struct consume_figures *figures)
{
    double received = figures->wire_bytes > 0 ? (double)figures->wire_bytes : NAN;
    return ratio(received, (double)figures->counters.slice_bytes);
}

static void add_row(struct table *table, const struct consume_child *child)
{
    const struct consume_figures figures = consume_child_figures(child);
    const struct consumer_counters *counters = &figures.counters;
    char digest[DIGEST_TEXT_MAX];
    snprintf(digest, sizeof(digest), "%016" PRIx64, figures.digest);
    table_add_integer(table, child->rank);
    table_add_integer(table, (int64_t)counters->steps);
    table_add_integer(table, (int64_t)child->first_step);
    table_add_integer(table, (int64_t)figures.next_step);
    table_add_text(table, digest);
    table_add_number(table,
                     ratio((double)counters->slice_bytes / 1e6, (double)figures.running_ns / 1e9));
    table_add_number(table, milliseconds(figures.slice_p50_ns));
    table_add_number(table, milliseconds(figures.slice_p95_ns));
    table_add_number(table, ratio((double)requests_of(counters), (double)counters->steps));
    table_add_number(table, amplification(counters));
    table_add_number(table, wire_amplification(&figures));
    table_add_number(table, (double)figures.memory_bytes / 1e6);
    table_add_integer(table, child->restarts);
}

void consume_report_print(const struct consume_run *run, FILE *stream)
{
    static const struct {
        const char *name;
        const char *unit;
    } columns[] = {
        {"rank", ""},         {"steps", ""},      {"first", ""},       {"next", ""},
        {"digest", ""},       {"rate", "MB/s"},   {"slice_p50", "ms"}, {"slice_p95", "ms"},
        {"requests", "step"}, {"amplified", "x"}, {"wire", "x"},       {"memory", "MB"},
        {"restarts", ""},
    };
    struct table *table = table_open();
    double bytes = 0;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        table_add_column(table, columns[i].name, columns[i].unit, TABLE_PLAIN);
    for (uint32_t i = 0; i < run->count; i++) {
        add_row(table, &run->children[i]);
        bytes += (double)consume_child_figures(&run->children[i]).counters.slice_bytes;
    }
    table_print(table, TABLE_ALIGNED, stream);
    table_close(table);
    fprintf(stream, "%.1f MB of slices in %.1f s: %.1f MB/s.\n", bytes / 1e6, run->wall_s,
            run->wall_s > 0 ? bytes / 1e6 / run->wall_s : 0.0);
}

/* ---- JSON ---- */

static json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_requests(const struct consumer_counters *counters)
{
    static const char *const names[] = {[CONSUMER_REQUEST_CONTROL] = "control",
                                        [CONSUMER_REQUEST_CHAIN] = "chain",
                                        [CONSUMER_REQUEST_SLICE] = "slice"};
    json_t *rows = json_object();
    for (int i = 0; i < CONSUMER_REQUEST_COUNT; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "requests", json_integer((json_int_t)counters->requests[i]));
        json_object_set_new(row, "bytes", json_integer((json_int_t)counters->bytes[i]));
        json_object_set_new(rows, names[i], row);
    }
    return rows;
}

static json_t *json_rank(const struct consume_child *child)
{
    const struct consume_figures figures = consume_child_figures(child);
    const struct consumer_counters *counters = &figures.counters;
    char digest[DIGEST_TEXT_MAX];
    json_t *row = json_object();
    snprintf(digest, sizeof(digest), "%016" PRIx64, figures.digest);
    json_object_set_new(row, "rank", json_integer(child->rank));
    json_object_set_new(row, "steps", json_integer((json_int_t)counters->steps));
    json_object_set_new(row, "first_step", json_integer((json_int_t)child->first_step));
    json_object_set_new(row, "next_step", json_integer((json_int_t)figures.next_step));
    json_object_set_new(row, "digest", json_string(digest));
    json_object_set_new(row, "bytes", json_integer((json_int_t)counters->slice_bytes));
    json_object_set_new(row, "running_s", json_real((double)figures.running_ns / 1e9));
    json_object_set_new(row, "slice_p50_s", json_number(milliseconds(figures.slice_p50_ns) / 1e3));
    json_object_set_new(row, "slice_p95_s", json_number(milliseconds(figures.slice_p95_ns) / 1e3));
    json_object_set_new(row, "asked", json_requests(counters));
    json_object_set_new(row, "wire_bytes", json_integer((json_int_t)figures.wire_bytes));
    json_object_set_new(row, "amplification", json_number(amplification(counters)));
    json_object_set_new(row, "wire_amplification", json_number(wire_amplification(&figures)));
    json_object_set_new(row, "polls", json_integer((json_int_t)counters->polls));
    json_object_set_new(row, "polls_idle", json_integer((json_int_t)counters->polls_idle));
    json_object_set_new(row, "retried", json_integer((json_int_t)counters->retried));
    json_object_set_new(row, "damaged", json_integer((json_int_t)counters->damaged));
    json_object_set_new(row, "missing", json_integer((json_int_t)counters->missing));
    json_object_set_new(row, "checkpoints", json_integer((json_int_t)counters->checkpoints));
    json_object_set_new(row, "memory_bytes", json_integer((json_int_t)figures.memory_bytes));
    json_object_set_new(row, "restarts", json_integer(child->restarts));
    return row;
}

void consume_report_json(const struct consume_job *job, const struct consume_run *run, FILE *stream)
{
    json_t *report = json_object();
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < run->count; i++)
        json_array_append_new(ranks, json_rank(&run->children[i]));
    json_object_set_new(report, "store", json_string(job->url));
    json_object_set_new(report, "slices", json_integer(job->slices));
    json_object_set_new(report, "wall_s", json_real(run->wall_s));
    json_object_set_new(report, "ranks", ranks);
    json_object_set_new(report, "error",
                        run->text[0] != '\0' ? json_string(run->text) : json_null());
    json_dumpf(report, stream, JSON_INDENT(2));
    fprintf(stream, "\n");
    json_decref(report);
}
