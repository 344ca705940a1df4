/* gc_report.h - what a round of reclamation found and did: for people, with advice, and as JSON. */
#ifndef EXPERIMENTS_GC_REPORT_H
#define EXPERIMENTS_GC_REPORT_H

#include <stdio.h>

#include "core/reclaim.h"

struct gc_report_options {
    const char *url;
    const char *command; /* that reaches the store again, for those that are advised */
    enum reclaim_mode mode;
    int64_t grace_ns;
    int64_t now_ns;
};

/* All of one round. */
void gc_report_print(const struct reclaim_report *report, const struct gc_report_options *options,
                     FILE *stream);
/* One line, for rounds that follow each other; with what is new to be said beside it. */
void gc_report_line(const struct reclaim_report *report, const struct gc_report_options *options,
                    FILE *stream);
/* One object on one line. */
void gc_report_json(const struct reclaim_report *report, const char *error,
                    const struct gc_report_options *options, FILE *stream);

#endif
