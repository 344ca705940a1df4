/* live_supervisor.h - the processes of one live run's producers: started, told to begin, heard,
 * started again when they die, and ended. Its parts are live_run.c's to look at. */
#ifndef EXPERIMENTS_LIVE_SUPERVISOR_H
#define EXPERIMENTS_LIVE_SUPERVISOR_H

#include "experiments/live/live_child.h"
#include "experiments/live/live_run.h"
#include "experiments/trials/recorder.h"

struct live_supervisor {
    const struct live_run_options *options;
    struct live_report *report;
    struct live_child *children;
    uint32_t count;
    uint32_t resumed; /* children whose epoch is committed */
    uint32_t failed;  /* children that ended by a failure */
    bool started;
    bool stopping; /* as asked, after a failure, or at a cap */
    bool capped;
    bool killed;
    int64_t start_ns;         /* of the run, in the producers' time */
    int64_t started_mono_ns;  /* the same instant, by progress_now_ns */
    int64_t kill_at_ns;       /* TIME_NEVER: not known yet */
    int64_t first_attempt_ns; /* when the parent began */
    struct recorder *recorder;
    struct progress progress;
    char label[256];
};

/* A line of the run's messages, without the progress line. */
__attribute__((format(printf, 2, 3))) void live_supervisor_say(struct live_supervisor *live,
                                                               const char *format, ...);
/* Asks all producers to end: each decides its attempt in progress first. None is started again. */
void live_supervisor_stop(struct live_supervisor *live);
/* The same after a failure. The first one is the one that is reported; the rest mostly follow from
 * it, and are counted. */
__attribute__((format(printf, 2, 3))) void live_supervisor_fail(struct live_supervisor *live,
                                                                const char *format, ...);
/* SIGKILL to all that are alive. */
void live_supervisor_kill(struct live_supervisor *live);
/* Starts those whose time to be started, or started again, has come. */
void live_supervisor_start_waiting(struct live_supervisor *live);
/* All that a process has said, and its end. Never blocks, but for the barrier of all ranks, when
 * the last producer of this one is ready. */
void live_supervisor_hear(struct live_supervisor *live, struct live_child *child);

#endif
