/* probe_verb.c - `lakestream probe`: opens the store, by each endpoint, and tries it. Ours. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "experiments/cli.h"
#include "experiments/cli_store.h"
#include "experiments/probe/probe_report.h"
#include "experiments/verbs.h"

#define USAGE_MAX 4096
/* Enough for all writers of a race at once. */
#define WORKERS PROBE_WRITERS
/* So long may one operation take, with all that is sent again. */
#define OPERATION_NS (15 * NS_PER_S)

struct probing {
    const struct cli *cli;
    struct live_session session;
    struct store *stores[PROBE_STORES_MAX];
    const char *names[PROBE_STORES_MAX];
    size_t count; /* of what is open */
    bool interrupted;
    struct probe_report report;
};

static_assert(CLI_ENDPOINTS_MAX <= PROBE_STORES_MAX, "every endpoint is a store");

/* ---- opening ---- */

static int open_failed(enum open_result result, const char *error)
{
    return cli_error(result == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
}

/* The session has the first endpoint, or the only way there is; the other endpoints share its loop.
 * Returns the status. */
static int open_stores(struct probing *probing)
{
    const struct cli *cli = probing->cli;
    const char *url = cli->operands[0];
    struct live_session_options options = {.access = DIRECTORY_WRITE, .workers = WORKERS};
    char error[STORE_ERROR_MAX];
    if (!cli_s3_options(cli, 0, &options.s3))
        return CLI_USAGE;
    options.s3.operation_ns = OPERATION_NS;
    enum open_result result = live_session_open(url, &options, &probing->session, error);
    if (result != OPEN_OK)
        return open_failed(result, error);
    probing->stores[0] = probing->session.bytes;
    probing->names[0] = cli->endpoint_count > 0 ? cli->endpoints[0] : url;
    for (probing->count = 1; probing->count < cli->endpoint_count; probing->count++) {
        size_t i = probing->count;
        struct store_url_options more = {.directory.access = DIRECTORY_WRITE};
        if (!cli_s3_options(cli, i, &more.s3))
            return CLI_USAGE;
        more.s3.operation_ns = OPERATION_NS;
        result = store_open_url(url, &more, probing->session.loop, &probing->stores[i], error);
        if (result != OPEN_OK)
            return open_failed(result, error);
        probing->names[i] = cli->endpoints[i];
    }
    return CLI_DONE;
}

static void close_stores(struct probing *probing)
{
    while (probing->count > 1)
        store_close(probing->stores[--probing->count]);
    if (probing->count == 1)
        live_session_close(&probing->session);
}

/* ---- running ---- */

static void on_signal(int signo, void *context)
{
    struct probing *probing = context;
    (void)signo;
    if (probing->interrupted) {
        cli_error(CLI_FAILED, "ended at once; objects may be left below %s",
                  probing->report.prefix);
        _exit(CLI_FAILED);
    }
    probing->interrupted = true;
    cli_error(CLI_FAILED, "interrupted: cleaning up; once more ends at once");
}

static void stop(void *context)
{
    live_loop_stop(((struct probing *)context)->session.loop);
}

static void tell(void *context, enum probe_check check, const struct probe_result *result)
{
    const struct probing *probing = context;
    if (!probing->cli->json)
        probe_report_line(check, result, stdout);
}

static int64_t skew_ns(const struct store *store)
{
    return s3_store_counters(store).skew_ns;
}

static int run(struct probing *probing)
{
    const struct cli *cli = probing->cli;
    const char *url = cli->operands[0];
    uint64_t seed;
    ssize_t drawn = getrandom(&seed, sizeof(seed), 0);
    assert(drawn == (ssize_t)sizeof(seed));
    live_loop_on_signal(probing->session.loop, SIGINT, on_signal, probing);
    live_loop_on_signal(probing->session.loop, SIGTERM, on_signal, probing);
    probe_run(&(struct probe_options){.loop = live_session_loop(&probing->session),
                                      .stop = stop,
                                      .context = probing,
                                      .stores = probing->stores,
                                      .names = probing->names,
                                      .store_count = probing->count,
                                      .rounds = cli->rounds > 0 ? (uint32_t)cli->rounds
                                                                : PROBE_ROUNDS_DEFAULT,
                                      .seed = seed,
                                      .skew_ns = strncmp(url, "s3://", 5) == 0 ? skew_ns : NULL,
                                      .interrupted = &probing->interrupted,
                                      .told = tell},
              &probing->report);
    if (cli->json)
        probe_report_json(&probing->report, url, probing->names, probing->count, stdout);
    else
        probe_report_end(&probing->report, url, stdout);
    return probing->report.fit ? CLI_DONE : CLI_FAILED;
}

static const char *usage(void)
{
    static char text[USAGE_MAX];
    int used = snprintf(
        text, sizeof(text),
        "usage: lakestream probe STORE [FLAGS]\n\n"
        "Tries whether a store keeps what live runs build on: s3://BUCKET/PREFIX or file://DIR.\n"
        "%d writers create one key at the same moment, %d times: exactly one may win. With "
        "several\n"
        "--endpoint of one store the writers are spread over them. Works below a prefix of its\n"
        "own, probe-<random>/, makes about 1,100 small objects there and deletes them, also when\n"
        "it is interrupted. Exit status: 0 fit, 1 not fit or interrupted, 2 usage.\n\n"
        "checks, each with its verdict (ok, noted: live runs can do without, NOT FIT) and time:\n",
        PROBE_WRITERS, PROBE_ROUNDS_DEFAULT);
    for (unsigned check = 0; check < PROBE_CHECK_COUNT; check++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "  %-8s %s%s",
                         probe_check_name((enum probe_check)check),
                         probe_check_text((enum probe_check)check),
                         check + 1 < PROBE_CHECK_COUNT ? "\n" : "");
    assert(used > 0 && (size_t)used < sizeof(text));
    return text;
}

int probe_main(int argc, char **argv)
{
    static const struct cli_help helps[] = {
        {CLI_ROUNDS, "N", "races to run (default 20)"},
        {0},
    };
    struct cli cli = {
        .usage = usage(),
        .flags = CLI_S3 | CLI_JSON | CLI_ROUNDS,
        .helps = helps,
        .operand = "STORE",
        .operands_min = 1,
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    if (cli.endpoint_count > 0 && strncmp(cli.operands[0], "s3://", 5) != 0)
        return cli_error(CLI_USAGE, "--endpoint is for s3:// stores, not for %s", cli.operands[0]);
    struct probing probing = {.cli = &cli};
    int status = open_stores(&probing);
    if (status == CLI_DONE)
        status = run(&probing);
    close_stores(&probing);
    return status;
}
