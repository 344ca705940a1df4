/* inspect_report.h - an inspection for people, and as JSON. */
#ifndef EXPERIMENTS_INSPECT_REPORT_H
#define EXPERIMENTS_INSPECT_REPORT_H

#include <stdio.h>

#include "experiments/live/inspection.h"

struct inspect_report_options {
    const char *url;
    uint64_t versions; /* how many of the newest are shown */
    bool deep;         /* payload was read */
};

void inspect_report_print(const struct inspection *inspection,
                          const struct inspect_report_options *options, FILE *stream);
void inspect_report_json(const struct inspection *inspection,
                         const struct inspect_report_options *options, FILE *stream);

#endif
