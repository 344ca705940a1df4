/* query.c - see query.h. */
#include "experiments/results/query.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/results/query_table.h"
#include "experiments/results/results.h"
#include "experiments/results/table.h"

static const char help[] =
    "usage: lakestream query [--db FILE] [--experiment NAME] [--arm NAME] [--metric A,B...]\n"
    "                        [--csv | --json]\n"
    "       lakestream query --series NAME ...\n"
    "       lakestream query --sql 'SELECT ...' [--db FILE] [--csv | --json]\n"
    "\n"
    "Prints what the results database holds: one row per experiment and arm, each metric as the\n"
    "mean over seeds with the half width of its 95 % confidence interval (Student's t; none with\n"
    "one seed). It shows the runs of the configs that were asked for last (view current_run); an\n"
    "arm that differs from the others of its experiment in more than policy and sweep is marked\n"
    "by a star, and what differs is said below the table. So is one with live runs that went on\n"
    "with an earlier one's chain (--resume; metric resumed, 1 or 0), which figures leave out.\n"
    "\n"
    "A metric is of the whole run after the warm-up (run.warmup), one named NAME_h2 of the second\n"
    "hour; series begin at 0. success is a ratio: attempts won over attempts decided (won or\n"
    "lost). violations counts the runs in which a checker of the protocol found something wrong:\n"
    "0 is right, and figures leave such runs out.\n"
    "\n"
    "  --db FILE          results database (default " CLI_DATABASE_DEFAULT ")\n"
    "  --experiment NAME  only these experiments; * and ? stand for any text, any character\n"
    "  --arm NAME         only these arms; patterns as well\n"
    "  --metric A,B       these metrics (an unknown name lists all)\n"
    "  --series NAME      a series over time instead: t in seconds, mean, half width\n"
    "  --sql 'SELECT'     the rows of one SELECT; tables run, metric, series, series_unit and the\n"
    "                     view current_run\n"
    "  --csv, --json      for programs: all digits, the half width in a column NAME_ci95\n"
    "  --help             print this\n"
    "\n"
    "Exit status: 0 done, 1 the database could not be read or the SQL failed, 2 usage.\n";

enum option_code {
    OPTION_DB = 256,
    OPTION_EXPERIMENT,
    OPTION_ARM,
    OPTION_METRIC,
    OPTION_SERIES,
    OPTION_SQL,
    OPTION_CSV,
    OPTION_JSON,
    OPTION_HELP,
};

static const struct option options[] = {
    {"db", required_argument, NULL, OPTION_DB},
    {"experiment", required_argument, NULL, OPTION_EXPERIMENT},
    {"arm", required_argument, NULL, OPTION_ARM},
    {"metric", required_argument, NULL, OPTION_METRIC},
    {"series", required_argument, NULL, OPTION_SERIES},
    {"sql", required_argument, NULL, OPTION_SQL},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {0},
};

struct query {
    struct query_request request;
    const char *db;
    enum table_format format;
    char *metric_text; /* owned: what request.metrics point into */
    bool csv;
    bool json;
    bool help;
};

/* Cuts at commas. False if a name is empty or there are too many. */
static bool split_metrics(struct query *query, const char *text)
{
    free(query->metric_text);
    query->metric_text = strdup(text);
    assert(query->metric_text != NULL);
    query->request.metric_count = 0;
    for (char *at = query->metric_text; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma = '\0';
        if (*at == '\0' || strlen(at) >= RESULT_NAME_MAX ||
            query->request.metric_count == QUERY_METRICS_MAX)
            return false;
        query->request.metrics[query->request.metric_count++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return true;
}

static bool take(struct query *query, enum option_code code, const char *argument)
{
    switch (code) {
    case OPTION_DB:
        query->db = argument;
        return true;
    case OPTION_EXPERIMENT:
        query->request.experiment = argument;
        return true;
    case OPTION_ARM:
        query->request.arm = argument;
        return true;
    case OPTION_METRIC:
        return split_metrics(query, argument);
    case OPTION_SERIES:
        query->request.series = argument;
        return true;
    case OPTION_SQL:
        query->request.sql = argument;
        return true;
    case OPTION_CSV:
        query->csv = true;
        return true;
    case OPTION_JSON:
        query->json = true;
        return true;
    case OPTION_HELP:
        query->help = true;
        return true;
    }
    return false;
}

/* What contradicts itself; NULL if nothing does. */
static const char *contradiction(const struct query *query)
{
    const struct query_request *request = &query->request;
    if (query->csv && query->json)
        return "--csv and --json exclude each other; give one";
    if (request->sql != NULL && (request->series != NULL || request->metric_count > 0 ||
                                 request->experiment != NULL || request->arm != NULL))
        return "--sql stands alone: say the rest in the SELECT";
    if (request->series != NULL && request->metric_count > 0)
        return "--series and --metric exclude each other; give one";
    return NULL;
}

/* CLI_DONE, or CLI_USAGE with the error printed. */
static int parse(struct query *query, int argc, char **argv)
{
    optind = 1;
    opterr = 0;
    int code;
    while ((code = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        code = code == 'h' ? OPTION_HELP : code;
        if (code == '?' || code == ':')
            return cli_error(CLI_USAGE, "query: %s %s; see lakestream query --help",
                             argv[optind - 1],
                             code == ':' ? "needs a value" : "is not a flag of query");
        if (!take(query, (enum option_code)code, optarg))
            return cli_error(CLI_USAGE, "query: --metric %s: expected names, separated by commas",
                             optarg);
    }
    if (optind < argc)
        return cli_error(CLI_USAGE,
                         "query: %s: no operand is expected; see lakestream query --help",
                         argv[optind]);
    const char *wrong = contradiction(query);
    if (wrong != NULL)
        return cli_error(CLI_USAGE, "query: %s", wrong);
    query->format = query->json ? TABLE_JSON : query->csv ? TABLE_CSV : TABLE_ALIGNED;
    return CLI_DONE;
}

static enum query_error build(struct query *query, struct table *table, char *message)
{
    struct query_request *request = &query->request;
    if (request->sql != NULL)
        return query_sql(request, table, message);
    if (request->series != NULL)
        return query_series(request, table, message);
    return query_summary(request, table, message);
}

static int print(struct query *query)
{
    char message[QUERY_MESSAGE_MAX] = "";
    if (results_open(query->db, RESULTS_READ, &query->request.db, message) != RESULTS_OK)
        return cli_error(CLI_FAILED, "query: %s", message);
    struct table *table = table_open();
    int status = CLI_DONE;
    switch (build(query, table, message)) {
    case QUERY_OK:
        table_print(table, query->format, stdout);
        if (query->format != TABLE_ALIGNED)
            table_print_notes(table, stderr);
        if (fflush(stdout) != 0 || ferror(stdout))
            status = cli_error(CLI_FAILED, "query: cannot write the output; is the disk full?");
        break;
    case QUERY_REFUSED:
        status = cli_error(CLI_USAGE, "query: %s", message);
        break;
    case QUERY_FAILED:
        status = cli_error(CLI_FAILED, "query: %s", message);
        break;
    }
    table_close(table);
    results_close(query->request.db);
    return status;
}

int query_main(int argc, char **argv)
{
    struct query query = {.db = CLI_DATABASE_DEFAULT};
    int status = parse(&query, argc, argv);
    if (status == CLI_DONE && query.help)
        fputs(help, stdout);
    else if (status == CLI_DONE)
        status = print(&query);
    free(query.metric_text);
    return status;
}

int query_show(const struct query_shown *shown)
{
    struct query query = {
        .db = shown->db,
        .request = {.experiment = shown->experiment, .arms = shown->arms},
        .format = shown->json ? TABLE_JSON : TABLE_ALIGNED,
    };
    return print(&query);
}
