/* consume_report.h - what came of the ranks, for people, and as JSON. */
#ifndef EXPERIMENTS_CONSUME_REPORT_H
#define EXPERIMENTS_CONSUME_REPORT_H

#include "experiments/consume/consume_run.h"

void consume_report_print(const struct consume_run *run, FILE *stream);
void consume_report_json(const struct consume_job *job, const struct consume_run *run,
                         FILE *stream);

#endif
