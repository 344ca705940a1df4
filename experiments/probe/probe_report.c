/* probe_report.c - see probe_report.h. Ours. */
#include "experiments/probe/probe_report.h"

#include <jansson.h>

void probe_report_line(enum probe_check check, const struct probe_result *result, FILE *stream)
{
    fprintf(stream, "  %-8s %-8s %8.3f s  %s\n", probe_check_name(check),
            probe_verdict_name(result->verdict), (double)result->took_ns / NS_PER_S, result->text);
    fflush(stream);
}

void probe_report_end(const struct probe_report *report, const char *url, FILE *stream)
{
    enum probe_check unfit = probe_unfit(report);
    if (report->fit)
        fprintf(stream, "%s is fit for live runs.\n", url);
    else if (unfit < PROBE_CHECK_COUNT)
        fprintf(stream, "%s is NOT fit for live runs (%s): %s\n", url, probe_check_name(unfit),
                report->results[unfit].text);
    else
        fprintf(stream, "%s: interrupted, so that nothing is known for sure.\n", url);
}

void probe_report_json(const struct probe_report *report, const char *url, const char *const *names,
                       size_t count, FILE *stream)
{
    json_t *ways = json_array();
    json_t *checks = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(ways, json_string(names[i]));
    for (unsigned check = 0; check < PROBE_CHECK_COUNT; check++) {
        const struct probe_result *result = &report->results[check];
        json_array_append_new(checks,
                              json_pack("{s:s, s:s, s:f, s:s}", "check",
                                        probe_check_name((enum probe_check)check), "verdict",
                                        probe_verdict_name(result->verdict), "seconds",
                                        (double)result->took_ns / NS_PER_S, "text", result->text));
    }
    json_t *whole = json_pack("{s:s, s:o, s:b, s:b, s:o}", "store", url, "endpoints", ways, "fit",
                              report->fit, "interrupted", report->interrupted, "checks", checks);
    assert(whole != NULL);
    json_dumpf(whole, stream, JSON_INDENT(2));
    fputc('\n', stream);
    json_decref(whole);
}
