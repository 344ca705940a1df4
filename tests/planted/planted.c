/* planted.c - runs swarm worlds until one breaks a promise, and says which checker saw it. Linked
 * by run.sh with a core in which one bug was planted.
 *
 *   planted SEEDS     prints "CHECKER SEEDS-RUN TEXT"; exit 0 if caught, 1 if not
 *
 * Asserts are a checker, too, and so is the end: the worlds run in a process of their own, and its
 * death in the world of a seed is "assert SEED ..." or "hang SEED ...". */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/swarm.h"

#define CPU_LIMIT_S 60 /* of one world */

static int run_worlds(uint64_t seeds, uint64_t *at)
{
    const struct itimerval limit = {.it_value.tv_sec = CPU_LIMIT_S};
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct swarm_config config;
        struct swarm_result result;
        struct swarm_options options = {.config = &config};
        struct swarm_limits limits = swarm_limits_none(seed);
        *at = seed;
        setitimer(ITIMER_PROF, &limit, NULL);
        swarm_config_draw(&config, &limits);
        swarm_run(&options, &result);
        if (result.violations.count == 0)
            continue;
        /* "<time> s, actor <n>: <checker>: <what>" */
        const char *actor = strstr(result.violations.first, "actor ");
        const char *checker = actor ? strstr(actor, ": ") : NULL;
        const char *what = checker ? strstr(checker + 2, ": ") : NULL;
        if (what == NULL)
            return 1;
        printf("%.*s %" PRIu64 " %s\n", (int)(what - checker - 2), checker + 2, seed, what + 2);
        return 0;
    }
    printf("none %" PRIu64 " not caught\n", seeds);
    return 1;
}

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint64_t *at =
        mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    if (at == MAP_FAILED)
        return 1;
    pid_t child = fork();
    if (child == 0)
        return run_worlds(seeds, at);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    if (number == SIGPROF)
        printf("hang %" PRIu64 " it does not come to an end\n", *at);
    else
        printf("%s %" PRIu64 " %s\n", number == SIGABRT ? "assert" : "signal", *at,
               strsignal(number));
    return 0;
}
