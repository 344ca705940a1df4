/* incident_list.h - the value of run.incidents: what is made to happen in a simulated run.
 *
 *   producer:0-1@60s+20s,rank:2@2min+5s,rollback:0-7@3min+5s,outage@4min+15s
 *
 * Each is a kind of sim/incidents.h, the processes it is about (one, or first-last; none of an
 * outage), when it begins and how long it lasts. No blanks: a config is kept as words. */
#ifndef EXPERIMENTS_INCIDENT_LIST_H
#define EXPERIMENTS_INCIDENT_LIST_H

#include "experiments/config/diagnostic.h"
#include "sim/incidents.h"

#define INCIDENT_LIST_MAX 32

struct incident_list {
    uint32_t count;
    struct incident items[INCIDENT_LIST_MAX];
};

/* Empty text: an empty list. False: the diagnostic says what is wrong. */
MUST_USE bool incident_list_parse(const char *text, struct incident_list *list,
                                  struct diagnostic *diagnostic);

#endif
