/* probe_report.h - what a probe found, for people and as JSON. */
#ifndef EXPERIMENTS_PROBE_PROBE_REPORT_H
#define EXPERIMENTS_PROBE_PROBE_REPORT_H

#include <stdio.h>

#include "experiments/probe/probe.h"

/* One line: the check, its verdict, its time and what was seen. */
void probe_report_line(enum probe_check check, const struct probe_result *result, FILE *stream);
/* The last line: fit or not, and why. */
void probe_report_end(const struct probe_report *report, const char *url, FILE *stream);
/* `names` has `count` ways to the store. */
void probe_report_json(const struct probe_report *report, const char *url, const char *const *names,
                       size_t count, FILE *stream);

#endif
