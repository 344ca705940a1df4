/* config.c - defaults, and what one row of the options table alone cannot check. */
#include "experiments/config/config.h"

#include <inttypes.h>
#include <string.h>

#include "experiments/config/incident_list.h"
#include "experiments/config/options.h"

void config_default(struct config *config)
{
    memset(config, 0, sizeof(*config));
    const struct origin origin = {.kind = ORIGIN_DEFAULT};
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_at(i);
        struct diagnostic diagnostic;
        bool ok = option_set(config, option, option->text_default, &origin, &diagnostic);
        if (!ok)
            fprintf(stderr, "%s\n", diagnostic.text);
        assert(ok);
    }
}

/* Two keys of one unit, of which the first must be at most (or below) the second. */
struct order {
    const char *smaller;
    const char *larger;
    bool strict;
};

static const struct order orders[] = {
    {"run.warmup", "run.duration", true},
    {"run.bin", "run.duration", false},
    {"commit.gap_min", "commit.gap_max", false},
    {"commit.retry", "commit.retry_max", false},
    {"policy.aimd.min", "policy.aimd.max", false},
    {"policy.incr.min", "policy.incr.max", false},
    {"policy.dac.conflict_min", "policy.dac.conflict_max", false},
    {"ranks.poll_min", "ranks.poll_max", false},
    {"live.fault.burst_max", "live.fault.burst_period", true},
};

/* Of two contradicting keys, the one that was set by the stronger origin is to blame. */
static const struct origin *blamed(const struct config *config, const struct option *a,
                                   const struct option *b)
{
    const struct origin *first = &config->origins[option_index(a)];
    const struct origin *second = &config->origins[option_index(b)];
    return first->kind >= second->kind ? first : second;
}

static bool check_orders(const struct config *config, struct diagnostic *diagnostic)
{
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        const struct option *smaller = option_find(orders[i].smaller);
        const struct option *larger = option_find(orders[i].larger);
        if (smaller == NULL || larger == NULL)
            continue; /* a policy that this build does not have */
        double low = option_number(config, smaller);
        double high = option_number(config, larger);
        if (orders[i].strict ? low < high : low <= high)
            continue;
        char low_text[OPTION_TEXT_MAX];
        char high_text[OPTION_TEXT_MAX];
        char origin[ORIGIN_TEXT_MAX];
        option_print(config, smaller, low_text);
        option_print(config, larger, high_text);
        origin_print_place(blamed(config, smaller, larger), origin);
        diagnostic_set(diagnostic, "%s: %s (%.64s) must be %s %s (%.64s)", origin, smaller->key,
                       low_text, orders[i].strict ? "below" : "at most", larger->key, high_text);
        return false;
    }
    return true;
}

/* A run holds one cell for every bin and producer. */
static bool check_bins(const struct config *config, struct diagnostic *diagnostic)
{
    const struct run_config *run = &config->run;
    uint64_t bins = (uint64_t)((run->duration_ns - 1) / run->bin_ns + 1);
    if (bins <= CONFIG_BINS_MAX && bins * config->workload.producers <= CONFIG_CELLS_MAX)
        return true;
    char text[OPTION_TEXT_MAX];
    char origin[ORIGIN_TEXT_MAX];
    const struct option *bin = option_find("run.bin");
    option_print(config, bin, text);
    origin_print_place(blamed(config, bin, option_find("run.duration")), origin);
    diagnostic_set(diagnostic,
                   "%s: run.bin (%.64s) cuts run.duration into %" PRIu64 " bins of %" PRIu64
                   " producers; at most %d bins, and %" PRIu64
                   " bins times producers, can be recorded: make run.bin longer",
                   origin, text, bins, config->workload.producers, CONFIG_BINS_MAX,
                   CONFIG_CELLS_MAX);
    return false;
}

/* One operation meets one fault at most. */
static bool check_faults(const struct config *config, struct diagnostic *diagnostic)
{
    static const char *const classes[] = {"read", "write", "create"};
    for (int class = 0; class < LIVE_FAULT_CLASS_COUNT; class ++) {
        char origin[ORIGIN_TEXT_MAX] = "default";
        double sum = 0;
        for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
            char key[CONFIG_NAME_MAX];
            snprintf(key, sizeof(key), "live.fault.%s.%s", classes[class],
                     fault_kind_name((enum fault_kind)kind));
            const struct option *option = option_find(key);
            double probability = config->live.fault.probability[class][kind];
            sum += probability;
            if (option != NULL && probability > 0)
                origin_print_place(&config->origins[option_index(option)], origin);
        }
        if (sum <= 1 + 1e-9)
            continue;
        diagnostic_set(diagnostic,
                       "%s: the shares of live.fault.%s.* add up to %.4g; an operation meets one "
                       "fault at most: make them 1 or less together",
                       origin, classes[class], sum);
        return false;
    }
    return true;
}

/* Every slice holds something, and no more than its header can say. */
static bool check_mesh(const struct config *config, struct diagnostic *diagnostic)
{
    struct tgb_layout layout;
    uint32_t slices = tgb_mesh_slices(config->mesh);
    if (slices == 0 || tgb_layout_make(config->workload.tgb_bytes, slices, &layout) == TGB_OK)
        return true;
    char bytes[OPTION_TEXT_MAX];
    char mesh[OPTION_TEXT_MAX];
    char origin[ORIGIN_TEXT_MAX];
    const struct option *of_bytes = option_find("workload.tgb");
    const struct option *of_mesh = option_find("tgb.mesh");
    option_print(config, of_bytes, bytes);
    option_print(config, of_mesh, mesh);
    origin_print_place(blamed(config, of_mesh, of_bytes), origin);
    diagnostic_set(diagnostic,
                   "%s: workload.tgb (%.64s) cannot be cut by tgb.mesh (%.64s): a slice has 1 B "
                   "to 4 GiB, beside 64 B for itself",
                   origin, bytes, mesh);
    return false;
}

/* Every slice has its rank. */
static bool check_ranks(const struct config *config, struct diagnostic *diagnostic)
{
    uint32_t slices = tgb_mesh_slices(config->mesh);
    if (config->ranks.count == 0 || slices == 0 || config->ranks.count == slices)
        return true;
    char mesh[OPTION_TEXT_MAX];
    char origin[ORIGIN_TEXT_MAX];
    const struct option *of_ranks = option_find("ranks.count");
    const struct option *of_mesh = option_find("tgb.mesh");
    option_print(config, of_mesh, mesh);
    origin_print_place(blamed(config, of_ranks, of_mesh), origin);
    diagnostic_set(diagnostic,
                   "%s: ranks.count (%" PRIu64 ") is not the number of slices of tgb.mesh (%.64s, "
                   "%u slices); without a mesh every rank reads whole TGBs",
                   origin, config->ranks.count, mesh, slices);
    return false;
}

static bool is_about_ranks(const struct incident *incident)
{
    return incident->kind == INCIDENT_RANK || incident->kind == INCIDENT_ROLLBACK;
}

/* Of one incident among those before it: its processes are there, and nothing else is happening to
 * them. */
static bool check_incident(const struct config *config, const struct incident_list *list,
                           uint32_t index, struct diagnostic *diagnostic)
{
    const struct incident *one = &list->items[index];
    bool ranks = is_about_ranks(one);
    uint64_t count = one->kind == INCIDENT_OUTAGE ? 1
                     : ranks                      ? config->ranks.count
                                                  : config->workload.producers;
    if ((uint64_t)one->first + one->count > count) {
        diagnostic_set(diagnostic,
                       "incident %u is about %s %u, but %s is %" PRIu64 ": they are counted from 0",
                       index + 1, ranks ? "rank" : "producer", one->first + one->count - 1,
                       ranks ? "ranks.count" : "workload.producers", count);
        return false;
    }
    if (one->at_ns >= config->run.duration_ns) {
        char text[OPTION_TEXT_MAX];
        option_print(config, option_find("run.duration"), text);
        diagnostic_set(diagnostic,
                       "incident %u begins when the run is over (run.duration is %.64s): make that "
                       "longer, or leave the incident out",
                       index + 1, text);
        return false;
    }
    for (uint32_t i = 0; i < index; i++) {
        const struct incident *other = &list->items[i];
        bool alike = one->kind == other->kind || (ranks && is_about_ranks(other));
        if (alike && one->first < other->first + other->count &&
            other->first < one->first + one->count && one->at_ns <= other->at_ns + other->for_ns &&
            other->at_ns <= one->at_ns + one->for_ns) {
            diagnostic_set(diagnostic, "incidents %u and %u of one process overlap", i + 1,
                           index + 1);
            return false;
        }
    }
    return true;
}

static bool check_incidents(const struct config *config, struct diagnostic *diagnostic)
{
    struct incident_list list;
    struct diagnostic reason;
    char origin[ORIGIN_TEXT_MAX];
    bool valid = incident_list_parse(config->run.incidents, &list, &reason);
    for (uint32_t i = 0; valid && i < list.count; i++)
        valid = check_incident(config, &list, i, &reason);
    if (valid)
        return true;
    const struct option *option = option_find("run.incidents");
    origin_print_place(&config->origins[option_index(option)], origin);
    diagnostic_set(diagnostic, "%s: run.incidents: %s", origin, reason.text);
    return false;
}

bool config_check(const struct config *config, struct diagnostic *diagnostic)
{
    return check_orders(config, diagnostic) && check_bins(config, diagnostic) &&
           check_faults(config, diagnostic) && check_mesh(config, diagnostic) &&
           check_ranks(config, diagnostic) && check_incidents(config, diagnostic);
}

const struct policy_kind *config_policy_kind(const struct config *config)
{
    const struct policy_kind *kind = policy_kind_at(config->policy.index);
    assert(kind != NULL);
    return kind;
}

const double *config_policy_values(const struct config *config)
{
    assert(config->policy.index < CONFIG_POLICIES_MAX);
    return config->policy.values[config->policy.index];
}

double config_price(const struct config *config, enum store_verb verb)
{
    double price = 0;
    switch (verb) {
    case STORE_GET:
        price = config->price.get;
        break;
    case STORE_PUT:
    case STORE_PUT_IF_ABSENT:
        price = config->price.put;
        break;
    case STORE_LIST:
        price = config->price.list;
        break;
    case STORE_DELETE:
        price = config->price.delete;
        break;
    case STORE_VERB_COUNT:
        assert(false);
        break;
    }
    return price;
}

void origin_print(const struct origin *origin, char text[ORIGIN_TEXT_MAX])
{
    switch (origin->kind) {
    case ORIGIN_DEFAULT:
        snprintf(text, ORIGIN_TEXT_MAX, "default");
        break;
    case ORIGIN_PROFILE:
        snprintf(text, ORIGIN_TEXT_MAX, "profile %s:%u", origin->file, origin->line);
        break;
    case ORIGIN_FILE:
        snprintf(text, ORIGIN_TEXT_MAX, "%s:%u", origin->file, origin->line);
        break;
    case ORIGIN_SET:
        snprintf(text, ORIGIN_TEXT_MAX, "--set");
        break;
    }
}

void origin_print_place(const struct origin *origin, char text[ORIGIN_TEXT_MAX])
{
    if (origin->file != NULL)
        snprintf(text, ORIGIN_TEXT_MAX, "%s:%u:%u", origin->file, origin->line, origin->column);
    else
        snprintf(text, ORIGIN_TEXT_MAX, "%s", origin->kind == ORIGIN_SET ? "--set" : "default");
}
