/* sim_verb.c - `lakestream sim`. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/cli.h"
#include "experiments/trials/simulate.h"
#include "experiments/verbs.h"

static int simulate(const struct experiment *experiment, const struct cli *cli)
{
    struct results_db *db = NULL;
    char message[RESULTS_MESSAGE_MAX];
    if (!cli_make_parent(cli->db))
        return CLI_FAILED;
    if (results_open(cli->db, RESULTS_WRITE, &db, message) != RESULTS_OK)
        return cli_error(CLI_FAILED, "%s", message);
    char *command = cli_command(cli, 0);
    char *repeat = cli_command(cli, CLI_ARM | CLI_SEEDS);
    struct simulate_options options = {
        .db = db,
        .jobs = (unsigned)cli->jobs,
        .progress = stderr,
        .command = command,
        .repeat = repeat,
    };
    int status = simulate_experiment(experiment, &options);
    free(command);
    free(repeat);
    results_close(db);
    return status == CLI_DONE ? cli_show_arms(cli, experiment) : status;
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
        .operand = "CONFIG",
        .operands_min = 1,
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    struct experiment experiment;
    if (!cli_load_experiment(&cli, cli.operands[0], &experiment))
        return CLI_USAGE;
    int status =
        cli.print_config ? cli_print_configs(&cli, &experiment) : simulate(&experiment, &cli);
    experiment_deinit(&experiment);
    return status;
}
