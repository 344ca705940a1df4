/* live_follow.c - see live_follow.h. Ours. */
#include "experiments/live/live_follow.h"

#include <string.h>

#include "experiments/live/live_meeting.h"
#include "experiments/live/live_run.h"
#include "experiments/trials/arm_record.h"

struct follower {
    const struct cli *cli;
    const struct experiment *experiment;
    const struct live_ranks *ranks;
    struct live_signals signals;
    struct live_cost cost; /* of the runs that are over: all ranks are taken to ask for as much */
};

/* The arm that is meant, whose config is the same here; NULL: said why not. */
static const struct arm *find_arm(const struct follower *follower, const struct live_call *call)
{
    const struct experiment *experiment = follower->experiment;
    const struct arm *arm = NULL;
    bool same = false;
    for (size_t i = 0; i < experiment->arm_count && arm == NULL; i++)
        if (strcmp(experiment->arms[i].name, call->arm) == 0)
            arm = &experiment->arms[i];
    if (arm != NULL) {
        struct arm_record record;
        arm_record_init(&record, arm);
        same = strcmp(record.hash, call->hash) == 0;
        arm_record_deinit(&record);
    }
    if (same)
        return arm;
    cli_error(CLI_FAILED,
              "rank %u: rank 0 runs the arm %.80s with another config than %s here: start all "
              "ranks with the same file, flags and build",
              follower->ranks->rank, call->arm, follower->cli->operands[0]);
    return NULL;
}

/* Below `base`, in components as live_place makes them: none leads up or is hidden. */
static bool is_below(const char *url, const char *base)
{
    size_t bytes = strlen(base);
    if (bytes > 0 && base[bytes - 1] == '/')
        bytes--;
    if (strncmp(url, base, bytes) != 0 || url[bytes] != '/' || url[bytes + 1] == '\0')
        return false;
    for (const char *at = url + bytes; *at != '\0'; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || strchr("_-./", *at) != NULL;
        if (!plain || (*at == '/' && (at[1] == '.' || at[1] == '/')))
            return false;
    }
    return true;
}

/* Whether the place is one that this rank's own command allows: what is in the store may be
 * anybody's. False: said why not. */
static bool check_place(const struct follower *follower, const struct arm *arm,
                        const struct live_call *call)
{
    const char *resume = follower->cli->resume;
    const char *store = arm->config.live.store;
    if (resume != NULL ? strcmp(call->url, resume) == 0 : is_below(call->url, store))
        return true;
    cli_error(CLI_FAILED,
              "rank %u: rank 0 runs on %s, which is not %s %s here: start all ranks with the same "
              "file and flags, and a --token that nobody else knows",
              follower->ranks->rank, call->url,
              resume != NULL ? "the --resume" : "below live.store",
              resume != NULL ? resume : store);
    return false;
}

static int say_end(const struct follower *follower, enum live_outcome outcome,
                   const struct live_report *report)
{
    uint32_t rank = follower->ranks->rank;
    switch (outcome) {
    case LIVE_COMPLETE:
        return CLI_DONE;
    case LIVE_FAILED:
    case LIVE_CAPPED:
        return cli_error(CLI_FAILED, "rank %u: %s", rank, report->text);
    case LIVE_INTERRUPTED:
        return cli_error(CLI_FAILED, "rank %u: stopped as asked", rank);
    case LIVE_KILLED:
        cli_error(CLI_FAILED, "rank %u: killed", rank);
        return 130;
    }
    return CLI_FAILED;
}

static int run(struct follower *follower, const struct live_call *call)
{
    const struct arm *arm = find_arm(follower, call);
    if (arm == NULL || !check_place(follower, arm, call))
        return CLI_FAILED;
    char name[192];
    uint32_t first;
    uint32_t count;
    snprintf(name, sizeof(name), "rank %u of %u: %.60s/%.80s seed %llu", follower->ranks->rank,
             follower->ranks->count, follower->experiment->name, arm->name,
             (unsigned long long)call->seed);
    live_ranks_share(follower->ranks, (uint32_t)arm->config.workload.producers, &first, &count);
    fprintf(stderr, "%s: producers %u-%u on %s\n", name, first, first + count - 1, call->url);
    struct live_group group = {
        .ranks = *follower->ranks,
        .config = &arm->config,
        .url = call->url,
        .signals = &follower->signals,
    };
    memcpy(group.id, call->group, sizeof(group.id));
    struct live_run_options options = {
        .config = &arm->config,
        .name = name,
        .url = call->url,
        .seed = call->seed,
        .resumed = follower->cli->resume != NULL,
        .signals = &follower->signals,
        .cap = live_cap_of(follower->experiment),
        .before = follower->cost,
        .group = &group,
        .messages = stderr,
        .runs_total = 1,
    };
    struct run_results results = {0};
    struct live_report report;
    enum live_outcome outcome = live_run(&options, &results, &report);
    live_cost_add(&follower->cost, &report.cost, follower->ranks->count);
    run_results_deinit(&results);
    return say_end(follower, outcome, &report);
}

/* One run. True: another may follow. */
static bool follow_once(struct follower *follower, struct live_meeting *meeting, int *status)
{
    struct live_call call;
    char text[LIVE_GROUP_TEXT_MAX];
    uint32_t rank = follower->ranks->rank;
    switch (live_meeting_hear(meeting, &call, text)) {
    case LIVE_GROUP_DONE:
        break;
    case LIVE_GROUP_FAILED:
        *status = cli_error(CLI_FAILED, "rank %u: %s", rank, text);
        return false;
    case LIVE_GROUP_ASKED:
        *status = cli_error(CLI_FAILED, "rank %u: stopped as asked", rank);
        return false;
    }
    if (call.over && call.failed)
        *status = cli_error(CLI_FAILED, "rank %u: rank 0 gave up; see what it printed", rank);
    else if (!call.over)
        *status = run(follower, &call);
    return !call.over && *status == CLI_DONE;
}

int live_follow(const struct cli *cli, const struct experiment *experiment,
                const struct live_ranks *ranks)
{
    struct follower follower = {.cli = cli, .experiment = experiment, .ranks = ranks};
    struct live_meeting meeting = {
        .config = &experiment->arms[0].config,
        .experiment = experiment->name,
        .ranks = ranks,
        .signals = &follower.signals,
    };
    int status = CLI_DONE;
    live_signals_open(&follower.signals);
    while (follow_once(&follower, &meeting, &status))
        continue;
    live_signals_close(&follower.signals);
    return status;
}
