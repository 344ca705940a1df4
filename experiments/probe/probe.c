/* probe.c - see probe.h. Ours. */
#include "experiments/probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "experiments/probe/probe_checks.h"

const char *probe_check_name(enum probe_check check)
{
    static const char *const names[] = {
#define X(code, name, text) name,
        PROBE_CHECKS(X)
#undef X
    };
    assert(check < PROBE_CHECK_COUNT);
    return names[check];
}

const char *probe_check_text(enum probe_check check)
{
    static const char *const texts[] = {
#define X(code, name, text) text,
        PROBE_CHECKS(X)
#undef X
    };
    assert(check < PROBE_CHECK_COUNT);
    return texts[check];
}

const char *probe_verdict_name(enum probe_verdict verdict)
{
    static const char *const names[] = {
#define X(code, name) name,
        PROBE_VERDICTS(X)
#undef X
    };
    assert(verdict < PROBE_VERDICT_COUNT);
    return names[verdict];
}

static const struct {
    void (*run)(struct probe *probe, struct probe_result *result);
    bool brief;
} checks[PROBE_CHECK_COUNT] = {
    [PROBE_REACH] = {probe_check_reach, false},  [PROBE_WRITE] = {probe_check_write, false},
    [PROBE_CREATE] = {probe_check_create, true}, [PROBE_RACE] = {probe_check_race, true},
    [PROBE_RANGE] = {probe_check_range, false},  [PROBE_LIST] = {probe_check_list, false},
    [PROBE_FRESH] = {probe_check_fresh, false},  [PROBE_DELETE] = {probe_check_delete, false},
    [PROBE_KEYS] = {probe_check_keys, false},    [PROBE_CLOCK] = {probe_check_clock, false},
    [PROBE_CLEAN] = {probe_check_clean, true},
};

/* Without these there is nothing to try the others on. */
static bool ends_the_probe(const struct probe *probe, enum probe_check check)
{
    const struct probe_options *options = probe->options;
    bool enough = options->scope == PROBE_BRIEF && options->store_count == 1;
    bool first = check == PROBE_REACH || check == PROBE_WRITE || (check == PROBE_CREATE && enough);
    return first && probe->report->results[check].verdict == PROBE_UNFIT;
}

static void run_check(struct probe *probe, enum probe_check check)
{
    struct probe_result *result = &probe->report->results[check];
    int64_t began_ns = loop_now(probe->options->loop);
    checks[check].run(probe, result);
    result->took_ns = loop_now(probe->options->loop) - began_ns;
    if (result->verdict == PROBE_SKIPPED && result->text[0] == '\0')
        snprintf(result->text, sizeof(result->text), "interrupted");
    if (probe->options->told != NULL)
        probe->options->told(probe->options->context, check, result);
}

void probe_run(const struct probe_options *options, struct probe_report *report)
{
    assert(options->store_count >= 1 && options->store_count <= PROBE_STORES_MAX);
    assert(options->rounds >= 1 && options->rounds <= PROBE_ROUNDS_MAX);
    *report = (struct probe_report){0};
    snprintf(report->prefix, sizeof(report->prefix), "probe-%016llx/",
             (unsigned long long)options->seed);
    struct probe probe = {
        .options = options, .report = report, .random = random_stream_make(options->seed, 1)};
    bool ended = false;
    for (unsigned check = 0; check < PROBE_CLEAN; check++) {
        if (ended || probe_interrupted(&probe) ||
            (options->scope == PROBE_BRIEF && !checks[check].brief))
            continue;
        run_check(&probe, (enum probe_check)check);
        ended = ends_the_probe(&probe, (enum probe_check)check);
    }
    if (probe.key_count > 0)
        run_check(&probe, PROBE_CLEAN);
    report->interrupted = probe_interrupted(&probe);
    report->fit = !report->interrupted && probe_unfit(report) == PROBE_CHECK_COUNT;
    free(probe.keys);
}

enum probe_check probe_unfit(const struct probe_report *report)
{
    unsigned check = 0;
    while (check < PROBE_CHECK_COUNT && report->results[check].verdict != PROBE_UNFIT)
        check++;
    return (enum probe_check)check;
}

static void stop_loop(void *context)
{
    live_loop_stop(context);
}

bool probe_session(struct live_session *session, char error[STORE_ERROR_MAX])
{
    uint64_t seed;
    struct probe_report report;
    ssize_t drawn = getrandom(&seed, sizeof(seed), 0);
    assert(drawn == (ssize_t)sizeof(seed));
    const char *name = "the store";
    probe_run(&(struct probe_options){.loop = live_session_loop(session),
                                      .stop = stop_loop,
                                      .context = session->loop,
                                      .stores = &session->bytes,
                                      .names = &name,
                                      .store_count = 1,
                                      .scope = PROBE_BRIEF,
                                      .rounds = PROBE_ROUNDS_BRIEF,
                                      .seed = seed},
              &report);
    if (!report.fit)
        snprintf(error, STORE_ERROR_MAX, "%s", report.results[probe_unfit(&report)].text);
    return report.fit;
}
