/* live_ranks.c - see live_ranks.h. Ours. */
#include "experiments/live/live_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/units.h"

/* In this order: mpirun may itself have been started by srun, whose variables then are about
 * mpirun's own processes. A batch script has SLURM_PROCID, too, but no step. */
static const struct launcher {
    const char *rank;
    const char *count;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

static bool parse(const char *name, const char *text, uint64_t *number,
                  char error[LIVE_RANKS_TEXT_MAX])
{
    struct diagnostic diagnostic;
    if (unit_parse_count(text, number, &diagnostic))
        return true;
    snprintf(error, LIVE_RANKS_TEXT_MAX, "%s is '%.64s', which is no number of a process", name,
             text);
    return false;
}

/* Into *rank and *count, which stay as they are where no launcher is found. */
static bool ask_environment(uint64_t *rank, uint64_t *count, char error[LIVE_RANKS_TEXT_MAX])
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const char *rank_text = getenv(launchers[i].rank);
        const char *count_text = getenv(launchers[i].count);
        if (rank_text == NULL || count_text == NULL)
            continue;
        return parse(launchers[i].rank, rank_text, rank, error) &&
               parse(launchers[i].count, count_text, count, error);
    }
    return true;
}

/* A step may run again when its job was requeued. */
static bool slurm_token(char token[LIVE_TOKEN_MAX])
{
    const char *job = getenv("SLURM_JOB_ID");
    const char *step = getenv("SLURM_STEP_ID");
    const char *restart = getenv("SLURM_RESTART_COUNT");
    if (job == NULL || step == NULL || getenv("OMPI_COMM_WORLD_RANK") != NULL)
        return false;
    snprintf(token, LIVE_TOKEN_MAX, "slurm-%.20s-%.20s-%.10s", job, step,
             restart != NULL ? restart : "0");
    return true;
}

static bool take_token(const char *given, char token[LIVE_TOKEN_MAX],
                       char error[LIVE_RANKS_TEXT_MAX])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (given == NULL && !slurm_token(token)) {
        snprintf(error, LIVE_RANKS_TEXT_MAX,
                 "the ranks find each other by a word of this run alone: give all of them the same "
                 "--token WORD, one that was not used before");
        return false;
    }
    if (given != NULL && strlen(given) < LIVE_TOKEN_MAX)
        snprintf(token, LIVE_TOKEN_MAX, "%s", given);
    if ((given == NULL || strlen(given) < LIVE_TOKEN_MAX) && token[0] != '\0' &&
        token[strspn(token, plain)] == '\0')
        return true;
    snprintf(error, LIVE_RANKS_TEXT_MAX,
             "--token: expected 1 to %d letters, digits, - and _; all ranks take the same",
             LIVE_TOKEN_MAX - 1);
    return false;
}

bool live_ranks_find(const struct live_ranks_flags *flags, struct live_ranks *ranks,
                     char text[LIVE_RANKS_TEXT_MAX])
{
    uint64_t rank = 0;
    uint64_t count = 1;
    *ranks = (struct live_ranks){.count = 1};
    if ((flags->rank != NULL) != (flags->ranks != 0)) {
        snprintf(text, LIVE_RANKS_TEXT_MAX,
                 "--rank and --ranks belong together: which process this is, from 0, and how many "
                 "there are");
        return false;
    }
    if (flags->rank != NULL) {
        count = flags->ranks;
        if (!parse("--rank", flags->rank, &rank, text))
            return false;
    } else if (!ask_environment(&rank, &count, text)) {
        return false;
    }
    if (count == 0 || count > LIVE_RANKS_MAX || rank >= count) {
        snprintf(text, LIVE_RANKS_TEXT_MAX,
                 "rank %llu of %llu: ranks count from 0 and stay below their number, which is at "
                 "most %d",
                 (unsigned long long)rank, (unsigned long long)count, LIVE_RANKS_MAX);
        return false;
    }
    ranks->rank = (uint32_t)rank;
    ranks->count = (uint32_t)count;
    return count == 1 || take_token(flags->token, ranks->token, text);
}

bool live_ranks_fit(const struct live_ranks *ranks, uint64_t producers,
                    char text[LIVE_RANKS_TEXT_MAX])
{
    uint64_t share = (producers + ranks->count - 1) / ranks->count;
    if (producers >= ranks->count && share <= LIVE_PRODUCERS_MAX)
        return true;
    if (share > LIVE_PRODUCERS_MAX)
        snprintf(text, LIVE_RANKS_TEXT_MAX,
                 "workload.producers is %llu; one machine runs at most %d processes live, and %u "
                 "rank%s started",
                 (unsigned long long)producers, LIVE_PRODUCERS_MAX, ranks->count,
                 ranks->count == 1 ? " was" : "s were");
    else
        snprintf(text, LIVE_RANKS_TEXT_MAX,
                 "workload.producers is %llu, but %u ranks were started, and each is to have one "
                 "at least: start fewer, or raise it",
                 (unsigned long long)producers, ranks->count);
    return false;
}

void live_ranks_share(const struct live_ranks *ranks, uint32_t producers, uint32_t *first,
                      uint32_t *count)
{
    assert(ranks->rank < ranks->count && producers >= ranks->count);
    uint64_t begin = (uint64_t)ranks->rank * producers / ranks->count;
    uint64_t end = ((uint64_t)ranks->rank + 1) * producers / ranks->count;
    *first = (uint32_t)begin;
    *count = (uint32_t)(end - begin);
}
