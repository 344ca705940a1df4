/* swarm_verb.c - `lakestream swarm`: flags, and what is printed; a failure as the command that
 * replays it, then shrunk. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cli.h"
#include "experiments/config/units.h"
#include "experiments/swarm/swarm_hunt.h"
#include "experiments/verbs.h"
#include "sim/swarm_shrink.h"

#define SEEDS_DEFAULT 1000
#define SEEDS_COVERING 1000 /* from so many on, every fault must have met every branch */
#define MET_AT_LEAST 1
#define CPU_LIMIT_NS (60 * NS_PER_S) /* no world is known that took half a second */
#define CPU_LIMIT_LEAST_NS (10 * NS_PER_MS)
#define TEXT_MAX 512

struct request {
    struct swarm_limits limits;
    uint64_t seeds;
    uint64_t jobs;
    int64_t cpu_limit_ns;
    int trace;
    int coverage;
};

static const char *const usage =
    "usage: lakestream swarm [FLAGS]\n\n"
    "Runs random worlds, one for each seed: producers, ranks and reclaimers on a virtual store,\n"
    "with lost, late and repeated requests, pauses, crashes, zombies, rollbacks and wrong clocks;\n"
    "then all heals and must converge. Checkers watch every version, report, delivery, deletion\n"
    "and end. A seed that breaks a promise, fails an assert, crashes or does not come to an end "
    "is\n"
    "printed as the command that replays it, and shrunk. docs/swarm.md tells more.\n\n"
    "  --seeds N          so many worlds (default 1000)\n"
    "  --seed S           the first seed (default 1); alone, only this one\n"
    "  --trace            print every operation, attempt and fault (needs --seed)\n"
    "  --jobs N           worker processes (default: one per core)\n"
    "  --cpu-limit T      a world that takes more CPU time does not come to an end (default 60s)\n"
    "  --coverage         print how often each fault met each branch and operation\n"
    "  --producers N      at most so many producers\n"
    "  --ranks N          at most so many ranks\n"
    "  --reclaimers N     at most so many reclaimers\n"
    "  --faults A,B       only these kinds of faults; none: no fault\n"
    "  --percent P        so much of the drawn length of phase 1\n"
    "  --help             print this\n\n"
    "Exit status: 0 done, 1 a seed failed or a branch was not met, 2 usage.";

/* ---- what is printed ---- */

/* The command that replays the world; a limit on its CPU time goes with it where it was given. */
static void print_command(const struct swarm_limits *limits, int64_t cpu_limit_ns)
{
    char text[TEXT_MAX];
    char limit[UNIT_TEXT_MAX];
    swarm_limits_text(limits, text, sizeof(text));
    printf("  lakestream swarm %s --trace", text);
    unit_print_duration(cpu_limit_ns, limit);
    if (cpu_limit_ns != CPU_LIMIT_NS)
        printf(" --cpu-limit %s", limit);
    printf("\n");
    fflush(stdout);
}

static void print_failure(struct swarm_hunt *hunt, const struct swarm_failure *failure)
{
    printf("seed %" PRIu64 " %s\n", failure->limits.seed, failure->text);
    print_command(&failure->limits, hunt->cpu_limit_ns);
}

static void print_sums(const struct swarm_hunt *hunt)
{
    const struct swarm_sums *sums = &hunt->sums;
    double elapsed_s = (double)(progress_now_ns() - hunt->started_ns) / (double)NS_PER_S;
    printf("%" PRIu64 " worlds, %" PRIu64 " lives (%" PRIu64 " fenced), %" PRIu64
           " versions, %" PRIu64 " below the floor, %" PRIu64 " steps\n",
           hunt->done, sums->lives, sums->fenced, sums->versions, sums->zombies, sums->steps);
    printf("%" PRIu64 " lives of ranks, %" PRIu64 " steps given, %" PRIu64
           " rounds of reclaimers, %" PRIu64 " floors, %" PRIu64 " versions and %" PRIu64
           " TGBs deleted\n",
           sums->rank_lives, sums->given, sums->rounds, sums->floors, sums->deleted,
           sums->reclaimed);
    printf("faults:");
    for (uint32_t bit = FAULT_NONE + 1; bit < SWARM_FAULTS; bit++)
        printf(" %s %" PRIu64, swarm_fault_name(bit), sums->hit[bit]);
    printf("\nhealed within %.0f latencies at most; %.1f million events in %.1f s\n",
           sums->healed_most, (double)sums->handled / 1e6, elapsed_s);
}

static void print_plane(const struct swarm_plane *plane)
{
    printf("%-52s %9s", "operation of ranks and reclaimers", "done");
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++)
        printf(" %7.7s", fault_kind_name((enum fault_kind)kind));
    for (int operation = 0; operation < PLANE_OPERATION_COUNT; operation++) {
        printf("\n%-52s %9" PRIu64, plane_operation_name((enum plane_operation)operation),
               plane->done[operation]);
        for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++)
            printf(" %7" PRIu64, plane->hit[operation][kind]);
    }
    printf("\n%-52s %9s\n", "turn of ranks and reclaimers", "taken");
    for (int turn = 0; turn < PLANE_TURN_COUNT; turn++)
        printf("%-52s %9" PRIu64 "\n", plane_turn_name((enum plane_turn)turn), plane->turns[turn]);
}

static void print_coverage(const struct swarm_coverage *coverage)
{
    printf("%-52s %9s", "branch", "taken");
    for (uint32_t bit = FAULT_NONE + 1; bit < SWARM_FAULTS; bit++)
        printf(" %7.7s", swarm_fault_name(bit));
    for (uint32_t branch = 0; branch < BRANCH_COUNT; branch++) {
        printf("\n%-52s %9" PRIu64, swarm_branch_name(branch), coverage->taken[branch]);
        for (uint32_t bit = FAULT_NONE + 1; bit < SWARM_FAULTS; bit++)
            printf(" %7" PRIu64, coverage->met[branch][bit]);
    }
    printf("\n");
}

static void shrink_failures(const struct swarm_hunt *hunt)
{
    for (uint64_t i = 0; i < hunt->failed && i < HUNT_FAILURES_MAX; i++) {
        uint32_t runs;
        struct swarm_limits small =
            swarm_failure_shrink(&hunt->failures[i], hunt->cpu_limit_ns, &runs);
        printf("shrunk in %" PRIu32 " runs:\n", runs);
        print_command(&small, hunt->cpu_limit_ns);
    }
}

/* No limit was asked for. */
static bool is_whole(const struct swarm_limits *limits)
{
    struct swarm_limits none = swarm_limits_none(limits->seed);
    return limits->producers == none.producers && limits->ranks == none.ranks &&
           limits->reclaimers == none.reclaimers && limits->faults == none.faults &&
           limits->percent == none.percent;
}

static int report(const struct swarm_hunt *hunt, const struct request *request)
{
    char missing[4096];
    print_sums(hunt);
    if (request->coverage) {
        print_coverage(&hunt->sums.coverage);
        print_plane(&hunt->sums.plane);
    }
    if (hunt->failed > 0) {
        shrink_failures(hunt);
        return CLI_FAILED;
    }
    if (hunt->astray)
        return CLI_FAILED;
    if (hunt->seeds < SEEDS_COVERING || !is_whole(&request->limits))
        return CLI_DONE;
    uint32_t pairs =
        swarm_coverage_missing(&hunt->sums.coverage, MET_AT_LEAST, missing, sizeof missing);
    if (pairs > 0)
        printf("%" PRIu32 " pairs of a fault and a branch were not met:\n%s", pairs, missing);
    uint32_t plane = swarm_plane_missing(&hunt->sums.plane, MET_AT_LEAST, missing, sizeof missing);
    if (plane > 0)
        printf("%" PRIu32 " pairs of a fault and an operation, or turns, were not met:\n%s", plane,
               missing);
    if (pairs + plane > 0)
        return CLI_FAILED;
    printf("every fault met every branch and operation, every turn was taken\n");
    return CLI_DONE;
}

static int hunt_run(const struct request *request)
{
    struct swarm_hunt hunt = {.limits = request->limits,
                              .seeds = request->seeds,
                              .jobs =
                                  request->jobs < request->seeds ? request->jobs : request->seeds,
                              .cpu_limit_ns = request->cpu_limit_ns,
                              .failed_one = print_failure,
                              .progress = progress_make(stderr, "swarm")};
    hunt.progress.unit = "seeds";
    swarm_hunt_run(&hunt);
    return report(&hunt, request);
}

static int trace_one(const struct request *request)
{
    struct swarm_failure failure;
    bool ran;
    if (swarm_world_fails(&request->limits, true, request->cpu_limit_ns, &failure, &ran)) {
        printf("seed %" PRIu64 " %s\n", request->limits.seed, failure.text);
        return CLI_FAILED;
    }
    if (!ran)
        return cli_error(CLI_FAILED, "cannot start a process for the world: %s", strerror(errno));
    printf("seed %" PRIu64 " is clean\n", request->limits.seed);
    return CLI_DONE;
}

/* ---- flags ---- */

static bool take_faults(const char *text, uint32_t *faults)
{
    *faults = 0;
    if (strcmp(text, "none") == 0)
        return true;
    while (*text) {
        size_t bytes = strcspn(text, ",");
        uint32_t bit = swarm_fault_find(text, bytes);
        if (bit == SWARM_FAULTS) {
            char names[TEXT_MAX] = "";
            size_t used = 0;
            for (bit = FAULT_NONE + 1; bit < SWARM_FAULTS; bit++)
                used += (size_t)snprintf(names + used, sizeof(names) - used, " %s",
                                         swarm_fault_name(bit));
            cli_error(CLI_USAGE, "--faults %s: expected none, or some of:%s", text, names);
            return false;
        }
        *faults |= UINT32_C(1) << bit;
        text += bytes + (text[bytes] == ',');
    }
    return true;
}

static bool take_count(const char *name, const char *text, uint64_t low, uint64_t high,
                       uint64_t *count)
{
    struct diagnostic diagnostic;
    if (unit_parse_count(text, count, &diagnostic) && *count >= low && *count <= high)
        return true;
    cli_error(CLI_USAGE, "--%s %s: expected a number from %" PRIu64 " to %" PRIu64, name, text, low,
              high);
    return false;
}

static bool take_limit(const char *name, const char *text, uint64_t low, uint32_t *limit)
{
    uint64_t count;
    uint64_t high = *limit;
    if (!take_count(name, text, low, high, &count))
        return false;
    *limit = (uint32_t)count;
    return true;
}

static bool take_cpu_limit(const char *text, int64_t *cpu_limit_ns)
{
    struct diagnostic diagnostic;
    if (unit_parse_duration(text, cpu_limit_ns, &diagnostic) && *cpu_limit_ns >= CPU_LIMIT_LEAST_NS)
        return true;
    cli_error(CLI_USAGE, "--cpu-limit %s: expected a duration of 10ms or more, as 60s", text);
    return false;
}

enum flag {
    SEEDS = 256,
    SEED,
    TRACE,
    JOBS,
    CPU_LIMIT,
    COVERAGE,
    PRODUCERS,
    RANKS,
    RECLAIMERS,
    FAULTS,
    PERCENT,
    HELP = 'h'
};

static bool take_flag(struct request *request, int flag, const char *text)
{
    struct swarm_limits *limits = &request->limits;
    switch (flag) {
    case SEEDS:
        return take_count("seeds", text, 1, UINT32_MAX, &request->seeds);
    case SEED:
        return take_count("seed", text, 0, UINT64_MAX / 2, &limits->seed);
    case JOBS:
        return take_count("jobs", text, 1, HUNT_JOBS_MAX, &request->jobs);
    case CPU_LIMIT:
        return take_cpu_limit(text, &request->cpu_limit_ns);
    case TRACE:
        request->trace = 1;
        return true;
    case COVERAGE:
        request->coverage = 1;
        return true;
    case PRODUCERS:
        return take_limit("producers", text, 1, &limits->producers);
    case RANKS:
        return take_limit("ranks", text, 0, &limits->ranks);
    case RECLAIMERS:
        return take_limit("reclaimers", text, 0, &limits->reclaimers);
    case PERCENT:
        return take_limit("percent", text, 1, &limits->percent);
    case FAULTS:
        return take_faults(text, &limits->faults);
    default:
        break;
    }
    return false;
}

/* What getopt did not take: chosen is ':' or '?'. Within a word of short flags it is still before
 * the word's end, and optopt is the letter. */
static int refuse_flag(char **argv, int chosen)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < SEEDS && optopt != HELP;
    const char *flag = is_letter ? letter : argv[optind - 1];
    if (chosen == ':')
        return cli_error(CLI_USAGE, "%s needs a value; see %s swarm --help", flag, cli_program());
    return cli_error(CLI_USAGE, "unknown flag %s; see %s swarm --help", flag, cli_program());
}

int swarm_main(int argc, char **argv)
{
    static const struct option flags[] = {
        {"seeds", required_argument, NULL, SEEDS},
        {"seed", required_argument, NULL, SEED},
        {"trace", no_argument, NULL, TRACE},
        {"jobs", required_argument, NULL, JOBS},
        {"cpu-limit", required_argument, NULL, CPU_LIMIT},
        {"coverage", no_argument, NULL, COVERAGE},
        {"producers", required_argument, NULL, PRODUCERS},
        {"ranks", required_argument, NULL, RANKS},
        {"reclaimers", required_argument, NULL, RECLAIMERS},
        {"faults", required_argument, NULL, FAULTS},
        {"percent", required_argument, NULL, PERCENT},
        {"help", no_argument, NULL, HELP},
        {0},
    };
    struct request request = {.limits = swarm_limits_none(UINT64_MAX),
                              .cpu_limit_ns = CPU_LIMIT_NS,
                              .jobs = swarm_hunt_jobs(sysconf(_SC_NPROCESSORS_ONLN))};
    int flag;
    optind = 1;
    opterr = 0;
    while ((flag = getopt_long(argc, argv, ":h", flags, NULL)) != -1) {
        if (flag == ':' || flag == '?')
            return refuse_flag(argv, flag);
        if (flag == HELP) {
            puts(usage);
            return CLI_DONE;
        }
        if (!take_flag(&request, flag, optarg))
            return CLI_USAGE;
    }
    if (optind < argc)
        return cli_error(CLI_USAGE, "swarm takes no %s; see %s swarm --help", argv[optind],
                         cli_program());
    bool seeded = request.limits.seed != UINT64_MAX;
    if (request.trace && !seeded)
        return cli_error(CLI_USAGE, "--trace needs --seed S");
    if (request.trace)
        return trace_one(&request);
    if (request.seeds == 0)
        request.seeds = seeded ? 1 : SEEDS_DEFAULT;
    if (!seeded)
        request.limits.seed = 1;
    return hunt_run(&request);
}
