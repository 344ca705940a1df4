/* sim_verb.c - `lakestream sim`. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/cli.h"
#include "experiments/options.h"
#include "experiments/query.h"
#include "experiments/simulate.h"
#include "experiments/verbs.h"

static int print_configs(const struct experiment *experiment, const struct cli *cli)
{
    json_t *all = json_object();
    for (size_t i = 0; i < experiment->arm_count; i++) {
        const struct arm *arm = &experiment->arms[i];
        if (cli->json) {
            json_object_set_new(all, arm->name, options_json(&arm->config));
            continue;
        }
        printf("%s# arm %s\n", i > 0 ? "\n" : "", arm->name);
        options_print(&arm->config, stdout);
    }
    if (cli->json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(all);
    return CLI_DONE;
}

static int show_results(const struct experiment *experiment, const struct cli *cli)
{
    char *arguments[] = {"query",
                         "--db",
                         (char *)(uintptr_t)cli->db,
                         "--experiment",
                         (char *)(uintptr_t)experiment->name,
                         cli->json ? "--json" : NULL,
                         NULL};
    return query_main(cli->json ? 6 : 5, arguments);
}

static int simulate(const struct experiment *experiment, const struct cli *cli)
{
    struct results_db *db = NULL;
    char message[RESULTS_MESSAGE_MAX];
    if (!cli_make_parent(cli->db))
        return CLI_FAILED;
    if (results_open(cli->db, RESULTS_WRITE, &db, message) != RESULTS_OK)
        return cli_error(CLI_FAILED, "%s", message);
    char command[CONFIG_PATH_MAX + 32];
    snprintf(command, sizeof command, "lakestream sim %s", cli->operands[0]);
    struct simulate_options options = {
        .db = db,
        .jobs = cli->jobs,
        .progress = stderr,
        .command = command,
    };
    int status = simulate_experiment(experiment, &options);
    results_close(db);
    return status == CLI_DONE ? show_results(experiment, cli) : status;
}

int sim_main(int argc, char **argv)
{
    struct cli cli = {
        .usage =
            "usage: lakestream sim CONFIG [FLAGS]\n\n"
            "Simulates every arm and seed of the experiment in CONFIG (see configs/experiments/)\n"
            "on all cores, writes the results into the database and prints them. What the\n"
            "database holds already is not run again, so that an interrupted sweep goes on.",
        .flags = CLI_SET | CLI_SEEDS | CLI_DB | CLI_JSON | CLI_JOBS | CLI_PRINT_CONFIG | CLI_ARM,
        .operands_min = 1,
        .operands_max = 1,
    };
    switch (cli_parse(&cli, argc, argv)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_REFUSED:
        return CLI_USAGE;
    case CLI_PARSED:
        break;
    }
    struct experiment experiment;
    if (!cli_load_experiment(&cli, cli.operands[0], &experiment))
        return CLI_USAGE;
    int status = cli.print_config ? print_configs(&experiment, &cli) : simulate(&experiment, &cli);
    experiment_free(&experiment);
    return status;
}
