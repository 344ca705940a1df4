/* probe_checks.h - the single checks of a probe: each fills its result, and blocks. */
#ifndef EXPERIMENTS_PROBE_PROBE_CHECKS_H
#define EXPERIMENTS_PROBE_PROBE_CHECKS_H

#include "experiments/probe/probe_call.h"

void probe_check_reach(struct probe *probe, struct probe_result *result);
void probe_check_write(struct probe *probe, struct probe_result *result);
void probe_check_create(struct probe *probe, struct probe_result *result);
void probe_check_race(struct probe *probe, struct probe_result *result);
void probe_check_range(struct probe *probe, struct probe_result *result);
void probe_check_list(struct probe *probe, struct probe_result *result);
void probe_check_fresh(struct probe *probe, struct probe_result *result);
void probe_check_delete(struct probe *probe, struct probe_result *result);
void probe_check_keys(struct probe *probe, struct probe_result *result);
void probe_check_clock(struct probe *probe, struct probe_result *result);
/* Deletes what was written; runs after an interruption, too. */
void probe_check_clean(struct probe *probe, struct probe_result *result);

/* One plain PUT, sent until it is answered; false: the result says why it failed. */
MUST_USE bool probe_put(struct probe *probe, struct probe_result *result, size_t store,
                        const char *name, const char *text);
/* Reads the whole object and compares; false: the result says what was there instead. */
MUST_USE bool probe_expect(struct probe *probe, struct probe_result *result, size_t store,
                           const char *name, const char *text);

#endif
