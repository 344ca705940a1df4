/* planted.c - runs swarm worlds until one breaks a promise, and says which checker saw it. Linked
 * by run.sh with a core in which one bug was planted.
 *
 *   planted SEEDS     prints "CHECKER SEEDS-RUN TEXT"; exit 0 if caught, 1 if not */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/swarm.h"

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct swarm_config config;
        struct swarm_result result;
        struct swarm_options options = {.config = &config};
        struct swarm_limits limits = swarm_limits_none(seed);
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
