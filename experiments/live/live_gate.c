/* live_gate.c - see live_gate.h. Ours. */
#include "experiments/live/live_gate.h"

#include <string.h>

#include "experiments/live/live_access.h"
#include "experiments/live/live_request.h"
#include "experiments/probe/probe.h"

/* ---- what it will cost ---- */

/* Says what all runs are expected to ask of the store: an arm's first seed stands for all. */
static enum open_result check_cost(const struct live_gate_options *options, FILE *messages,
                                   char error[LIVE_GATE_TEXT_MAX])
{
    struct live_cost sum = {0};
    enum live_estimate worst = LIVE_ESTIMATE_WHOLE;
    char text[LIVE_COST_TEXT_MAX];
    for (size_t i = 0; i < options->experiment->arm_count; i++) {
        const struct arm *arm = &options->experiment->arms[i];
        const char *url = options->resume != NULL ? options->resume : arm->config.live.store;
        struct live_cost cost;
        if (options->runs[i] == 0)
            continue;
        enum live_estimate estimate =
            live_cost_estimate(&arm->config, url, arm->config.seed, &cost, text);
        if (estimate == LIVE_ESTIMATE_UNKNOWN)
            fprintf(messages, "lakestream: arm %s: what it will cost is not known: %s\n", arm->name,
                    text);
        worst = estimate > worst ? estimate : worst;
        live_cost_add(&sum, &cost, options->runs[i]);
    }
    live_cost_print(&sum, text);
    fprintf(messages, "lakestream: expected, by simulating %s of each arm: %s\n",
            worst == LIVE_ESTIMATE_SCALED ? "the start" : "one seed", text);
    if (!live_cost_exceeds(&sum, &options->cap, text))
        return OPEN_OK;
    snprintf(error, LIVE_GATE_TEXT_MAX,
             "%s; raise it by --set, or run less (--arm, --seeds, --set run.duration=...)", text);
    return OPEN_FAILED;
}

/* ---- whether the store is fit ---- */

static enum open_result check_store(const struct config *config, char error[LIVE_GATE_TEXT_MAX])
{
    struct live_session_options access = live_access_of(config);
    struct live_session session;
    char reason[STORE_ERROR_MAX];
    access.sync = DIRECTORY_NO_SYNC; /* nothing of it is kept */
    access.s3.operation_ns = config->live.deadline_ns;
    enum open_result result = live_reach(config->live.store, &access, reason);
    if (result == OPEN_OK)
        result = live_session_open(config->live.store, &access, &session, reason);
    if (result == OPEN_OK) {
        result = probe_session(&session, reason) ? OPEN_OK : OPEN_FAILED;
        live_session_close(&session);
    }
    if (result != OPEN_OK)
        snprintf(error, LIVE_GATE_TEXT_MAX, "%s: %s", config->live.store, reason);
    return result;
}

/* A directory is tried by its store at open, and would keep the probe's folders. */
static bool is_remote(const struct config *config)
{
    return strncmp(config->live.store, "s3://", strlen("s3://")) == 0;
}

/* Arms of one store, reached by one endpoint, share one try. */
static bool is_tried(const struct live_gate_options *options, size_t arm)
{
    const struct live_config *live = &options->experiment->arms[arm].config.live;
    for (size_t i = 0; i < arm; i++) {
        const struct live_config *other = &options->experiment->arms[i].config.live;
        if (options->runs[i] > 0 && strcmp(other->store, live->store) == 0 &&
            strcmp(other->endpoint, live->endpoint) == 0)
            return true;
    }
    return false;
}

static enum open_result check_stores(const struct live_gate_options *options,
                                     char error[LIVE_GATE_TEXT_MAX])
{
    enum open_result result = OPEN_OK;
    for (size_t i = 0; i < options->experiment->arm_count && result == OPEN_OK; i++) {
        const struct config *config = &options->experiment->arms[i].config;
        if (options->runs[i] > 0 && is_remote(config) && !is_tried(options, i))
            result = check_store(config, error);
    }
    return result;
}

enum open_result live_gate_pass(const struct live_gate_options *options, FILE *messages,
                                char error[LIVE_GATE_TEXT_MAX])
{
    enum open_result result = check_cost(options, messages, error);
    if (result == OPEN_OK && options->resume == NULL)
        result = check_stores(options, error);
    return result;
}
