/* options_table.c - the rows: one per config key, and those that are generated from core's
 * policies. Bounds are in the unit's own scale: nanoseconds, bytes, bytes per second. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "experiments/config/options.h"
#include "sim/latency.h"

#define FIELD(path) offsetof(struct config, path)
#define SECONDS(count) ((count)*1e9)
#define HOUR SECONDS(3600.0)
#define KIB 1024.0
#define MIB (1024.0 * KIB)
#define GIB (1024.0 * MIB)
#define RATE_MAX 1e15
#define POLICY_NAME_DEFAULT "dac"
#define ON_OFF "off|on" /* in the order of enum toggle */

static_assert(sizeof(enum producer_mode) == sizeof(uint32_t), "choices are stored as uint32_t");
static_assert(sizeof(enum commit_find) == sizeof(uint32_t), "choices are stored as uint32_t");
static_assert(sizeof(enum toggle) == sizeof(uint32_t), "choices are stored as uint32_t");
static_assert(PRODUCER_INLINE == 0 && COMMIT_FIND_LIST == 0, "choices are in the enums' order");

#define QUANTILES_HELP                                                                             \
    "measured factors of the median instead of the lognormal, as p:factor: 0:0.6 0.5:1 1:4"

static const struct option fixed_rows[] = {
    {"name", UNIT_TEXT, 0, "", 0, CONFIG_NAME_MAX, NULL,
     "name of the experiment in the database and in file names", FIELD(name)},
    {"title", UNIT_TEXT, 0, "", 0, CONFIG_TITLE_MAX, NULL, "one line about it for people",
     FIELD(title)},
    {"seeds", UNIT_COUNT, 0, "10", 1, 10000, NULL, "how many seeds every arm runs with",
     FIELD(seeds)},
    {"seed", UNIT_COUNT, 0, "1", 0, 1e15, NULL, "the first seed; the others follow", FIELD(seed)},

    {"workload.producers", UNIT_COUNT, 0, "32", 1, MANIFEST_STATES_MAX, NULL,
     "producers that share one commit chain (paper: 32)", FIELD(workload.producers)},
    {"workload.rate", UNIT_RATE, 0, "13.5MB/s", 1, RATE_MAX, NULL,
     "bytes a second that one producer makes (paper: 13.5 MB/s)", FIELD(workload.rate)},
    {"workload.tgb", UNIT_BYTES, 0, "32MiB", KIB, 16 * GIB, NULL,
     "ASSUMED: size of one TGB [workload.tgb]", FIELD(workload.tgb_bytes)},
    {"workload.jitter", UNIT_RATIO, 0, "0.1", 0, 1, NULL,
     "ASSUMED: the time to make a TGB varies uniformly by this share, up and down "
     "[workload.jitter]",
     FIELD(workload.jitter)},
    {"workload.mode", UNIT_CHOICE, 0, "inline", 0, 0, "inline|background",
     "ASSUMED: whether commit I/O pauses production or goes on beside it [workload.mode]",
     FIELD(workload.mode)},

    {"run.duration", UNIT_DURATION, 0, "5h", SECONDS(1e-3), 10000 * HOUR, NULL,
     "length of one run (paper: 5 h)", FIELD(run.duration_ns)},
    {"run.warmup", UNIT_DURATION, 0, "10min", 0, 10000 * HOUR, NULL,
     "ASSUMED: start of the run that metrics leave out; series show it [run.warmup]",
     FIELD(run.warmup_ns)},
    {"run.bin", UNIT_DURATION, 0, "5min", SECONDS(1e-3), 10000 * HOUR, NULL,
     "width of one point of a series", FIELD(run.bin_ns)},

    {"commit.find", UNIT_CHOICE, 0, "list", 0, 0, "list|probe",
     "ASSUMED: how the newest version is found: one LIST, or probing ahead [commit.find]",
     FIELD(commit.find)},
    {"commit.first_gap", UNIT_DURATION, 0, "10s", 0, 24 * HOUR, NULL,
     "ASSUMED: the first attempt starts uniformly within this [commit.first_gap]",
     FIELD(commit.first_gap_ns)},
    {"commit.gap_min", UNIT_DURATION, 0, "0s", 0, 24 * HOUR, NULL,
     "ASSUMED: no policy's gap is shorter, before jitter [commit.gap_min]",
     FIELD(commit.gap_min_ns)},
    {"commit.gap_max", UNIT_DURATION, 0, "1h", 0, 24 * HOUR, NULL,
     "ASSUMED: no policy's gap is longer, before jitter [commit.gap_max]",
     FIELD(commit.gap_max_ns)},
    {"commit.jitter", UNIT_RATIO, 0, "0.1", 0, 1, NULL,
     "ASSUMED: a gap varies uniformly by this share, up and down [commit.jitter]",
     FIELD(commit.jitter)},
    {"commit.active_versions", UNIT_COUNT, 0, "1024", 1, 1e9, NULL,
     "ASSUMED: a producer is active if one of the newest versions, so many, is its own "
     "[commit.active_versions]",
     FIELD(commit.active_versions)},
    {"commit.uploads_max", UNIT_COUNT, 0, "4", 1, PRODUCER_UPLOADS_MAX, NULL,
     "ASSUMED: uploads at once by one producer; production waits beyond [commit.uploads_max]",
     FIELD(commit.uploads_max)},
    {"commit.retry", UNIT_DURATION, 0, "100ms", SECONDS(1e-6), HOUR, NULL,
     "ASSUMED: first back-off before a request is sent again; doubles [commit.retry]",
     FIELD(commit.retry_ns)},
    {"commit.retry_max", UNIT_DURATION, 0, "10s", SECONDS(1e-6), HOUR, NULL,
     "ASSUMED: longest back-off before a request is sent again [commit.retry_max]",
     FIELD(commit.retry_max_ns)},

    {"manifest.entry", UNIT_BYTES, 0, "64B", MANIFEST_ENTRY_BYTES_MIN, MANIFEST_ENTRY_BYTES_MAX,
     NULL, "ASSUMED: encoded size of one manifest entry [manifest.entry]", FIELD(entry_bytes)},

    {"store.profile", UNIT_TEXT, 0, "s3-standard", 0, CONFIG_PATH_MAX, NULL,
     "ASSUMED: the store that is simulated: a name in configs/profiles, or a path "
     "[store.profile]",
     FIELD(store.profile)},

    {"store.get.base", UNIT_DURATION, 0, "27ms", 0, HOUR, NULL,
     "median time of a GET without its bytes", FIELD(store.latency[STORE_GET].base_ns)},
    {"store.get.slope", UNIT_RATE, 0, "50MiB/s", 1, RATE_MAX, NULL,
     "ASSUMED: bandwidth of one GET stream, as PUT's [store.get.slope]",
     FIELD(store.latency[STORE_GET].stream_rate)},
    {"store.get.sigma", UNIT_NUMBER, 0, "0.62", 0, LATENCY_SIGMA_MAX, NULL,
     "sigma of the lognormal factor of a GET; 0: constant", FIELD(store.latency[STORE_GET].sigma)},
    {"store.get.quantiles", UNIT_QUANTILES, 0, "", 0, 0, NULL, QUANTILES_HELP,
     FIELD(store.latency[STORE_GET].quantiles)},
    {"store.put.base", UNIT_DURATION, 0, "60ms", 0, HOUR, NULL,
     "median time of a PUT without its bytes", FIELD(store.latency[STORE_PUT].base_ns)},
    {"store.put.slope", UNIT_RATE, 0, "50MiB/s", 1, RATE_MAX, NULL,
     "bandwidth of one PUT stream; bytes / slope is added to the base",
     FIELD(store.latency[STORE_PUT].stream_rate)},
    {"store.put.sigma", UNIT_NUMBER, 0, "0.29", 0, LATENCY_SIGMA_MAX, NULL,
     "sigma of the lognormal factor of a PUT; 0: constant", FIELD(store.latency[STORE_PUT].sigma)},
    {"store.put.quantiles", UNIT_QUANTILES, 0, "", 0, 0, NULL, QUANTILES_HELP,
     FIELD(store.latency[STORE_PUT].quantiles)},
    {"store.create.base", UNIT_DURATION, 0, "61ms", 0, HOUR, NULL,
     "median time of a create (conditional PUT) without its bytes",
     FIELD(store.latency[STORE_PUT_IF_ABSENT].base_ns)},
    {"store.create.slope", UNIT_RATE, 0, "50MiB/s", 1, RATE_MAX, NULL,
     "ASSUMED: bandwidth of one create stream, as PUT's [store.create.slope]",
     FIELD(store.latency[STORE_PUT_IF_ABSENT].stream_rate)},
    {"store.create.sigma", UNIT_NUMBER, 0, "0.14", 0, LATENCY_SIGMA_MAX, NULL,
     "sigma of the lognormal factor of a create; 0: constant",
     FIELD(store.latency[STORE_PUT_IF_ABSENT].sigma)},
    {"store.create.quantiles", UNIT_QUANTILES, 0, "", 0, 0, NULL, QUANTILES_HELP,
     FIELD(store.latency[STORE_PUT_IF_ABSENT].quantiles)},
    {"store.create.wait", UNIT_DURATION, 0, "0s", 0, HOUR, NULL,
     "ASSUMED: a create waits this long, for each other create in flight, before it is decided "
     "[store.create.wait]",
     FIELD(store.contention.wait_ns)},
    {"store.create.collision", UNIT_RATIO, 0, "0", 0, 1, NULL,
     "ASSUMED: chance, for each other create in flight, that a create's answer is held back "
     "[store.create.collision]",
     FIELD(store.contention.collision)},
    {"store.create.collision_time", UNIT_DURATION, 0, "0s", 0, HOUR, NULL,
     "ASSUMED: mean time, for each other create in flight, that it is held back "
     "[store.create.collision_time]",
     FIELD(store.contention.collision_ns)},
    {"store.create.refused_early", UNIT_RATIO, 0, "0", 0, 1, NULL,
     "ASSUMED: share of the time from decision to answer that a refused create is spared "
     "[store.create.refused_early]",
     FIELD(store.contention.refused_early)},
    {"store.list.base", UNIT_DURATION, 0, "40ms", 0, HOUR, NULL,
     "ASSUMED: not measured: median time of a LIST of one page [store.list.base]",
     FIELD(store.latency[STORE_LIST].base_ns)},
    {"store.list.sigma", UNIT_NUMBER, 0, "0.5", 0, LATENCY_SIGMA_MAX, NULL,
     "ASSUMED: not measured: sigma of the lognormal factor of a LIST [store.list.sigma]",
     FIELD(store.latency[STORE_LIST].sigma)},
    {"store.list.quantiles", UNIT_QUANTILES, 0, "", 0, 0, NULL, QUANTILES_HELP,
     FIELD(store.latency[STORE_LIST].quantiles)},
    {"store.delete.base", UNIT_DURATION, 0, "30ms", 0, HOUR, NULL,
     "ASSUMED: not measured: median time of a DELETE [store.delete.base]",
     FIELD(store.latency[STORE_DELETE].base_ns)},
    {"store.delete.sigma", UNIT_NUMBER, 0, "0.3", 0, LATENCY_SIGMA_MAX, NULL,
     "ASSUMED: not measured: sigma of the lognormal factor of a DELETE [store.delete.sigma]",
     FIELD(store.latency[STORE_DELETE].sigma)},
    {"store.delete.quantiles", UNIT_QUANTILES, 0, "", 0, 0, NULL, QUANTILES_HELP,
     FIELD(store.latency[STORE_DELETE].quantiles)},

    {"store.apply_fraction", UNIT_RATIO, 0, "0.9", 0, 1, NULL,
     "ASSUMED: the store applies a request this far into its latency; fitted to the contention "
     "table [store.apply_fraction]",
     FIELD(store.apply_fraction)},
    {"store.read_fraction", UNIT_RATIO, 0, "0", 0, 1, NULL,
     "ASSUMED: the same for GET and LIST; 0: as store.apply_fraction [store.read_fraction]",
     FIELD(store.read_fraction)},
    {"store.client_bandwidth", UNIT_RATE, 0, "1.25GB/s", 1, RATE_MAX, NULL,
     "ASSUMED: bandwidth that the streams of one producer share [store.client_bandwidth]",
     FIELD(store.client_bandwidth)},
    {"store.bandwidth", UNIT_RATE, 0, "12.5GB/s", 1, RATE_MAX, NULL,
     "ASSUMED: bandwidth that all streams to the store share [store.bandwidth]",
     FIELD(store.bandwidth)},
    {"store.put_limit", UNIT_NUMBER, 0, "3500", 1e-3, 1e9, NULL,
     "requests a second of PUT, create and DELETE together, then 503", FIELD(store.put_limit)},
    {"store.get_limit", UNIT_NUMBER, 0, "5500", 1e-3, 1e9, NULL,
     "requests a second of GET and LIST together, then 503", FIELD(store.get_limit)},

    {"price.put", UNIT_NUMBER, 0, "0.005", 0, 1000, NULL, "dollars per 1,000 PUTs or creates",
     FIELD(price.put)},
    {"price.get", UNIT_NUMBER, 0, "0.0004", 0, 1000, NULL, "dollars per 1,000 GETs",
     FIELD(price.get)},
    {"price.list", UNIT_NUMBER, 0, "0.005", 0, 1000, NULL, "dollars per 1,000 LISTs",
     FIELD(price.list)},
    {"price.delete", UNIT_NUMBER, 0, "0", 0, 1000, NULL, "dollars per 1,000 DELETEs",
     FIELD(price.delete)},

    {"live.store", UNIT_TEXT, 0, "", 0, CONFIG_PATH_MAX, NULL,
     "where a live run commits: file://directory", FIELD(live.store)},
    {"live.sync", UNIT_CHOICE, 0, "on", 0, 0, ON_OFF,
     "whether what was acknowledged is on the disk (fsync)", FIELD(live.sync)},
    {"live.restart", UNIT_CHOICE, 0, "on", 0, 0, ON_OFF,
     "whether a producer whose process died is started again", FIELD(live.restart)},
    {"live.workers", UNIT_COUNT, 0, "4", 1, 256, NULL,
     "threads for blocking file work in one process", FIELD(live.workers)},
};

#define FIXED_ROWS (sizeof(fixed_rows) / sizeof(fixed_rows[0]))
#define KEY_MAX 64
#define CHOICES_MAX 512
#define GROUPS_MAX 64

static struct option rows[CONFIG_OPTIONS_MAX];
static size_t row_count;
static char policy_keys[CONFIG_OPTIONS_MAX][KEY_MAX];
static char policy_defaults[CONFIG_OPTIONS_MAX][UNIT_TEXT_MAX];
static char policy_choices[CHOICES_MAX];
static char groups[GROUPS_MAX][KEY_MAX];
static size_t group_count;
static pthread_once_t built = PTHREAD_ONCE_INIT;

static struct option *add_row(void)
{
    assert(row_count < CONFIG_OPTIONS_MAX);
    return &rows[row_count++];
}

static void add_policy_name(void)
{
    size_t used = 0;
    const struct policy_kind *kind;
    for (size_t i = 0; (kind = policy_kind_at(i)) != NULL; i++) {
        assert(i < CONFIG_POLICIES_MAX);
        int chars = snprintf(policy_choices + used, sizeof(policy_choices) - used, "%s%s",
                             i > 0 ? "|" : "", kind->name);
        used += (size_t)chars;
        assert(used < sizeof(policy_choices));
    }
    *add_row() = (struct option){
        .key = "policy.name",
        .unit = UNIT_CHOICE,
        .text_default = POLICY_NAME_DEFAULT,
        .choices = policy_choices,
        .help = "when a producer tries to commit next",
        .offset = FIELD(policy.index),
    };
}

/* Seconds as core has them, as a duration's text. */
static void print_default(const struct policy_parameter *parameter, char text[UNIT_TEXT_MAX])
{
    switch (parameter->unit) {
    case PARAMETER_DURATION:
        unit_print_duration((int64_t)(parameter->value_default * 1e9 + 0.5), text);
        break;
    case PARAMETER_RATIO:
    case PARAMETER_NUMBER:
        unit_print_number(parameter->value_default, text);
        break;
    case PARAMETER_CHOICE:
        unit_print_choice((uint32_t)parameter->value_default, parameter->choices, text);
        break;
    }
}

static enum unit unit_of(enum parameter_unit unit)
{
    switch (unit) {
    case PARAMETER_DURATION:
        return UNIT_DURATION;
    case PARAMETER_RATIO:
        return UNIT_RATIO;
    case PARAMETER_NUMBER:
        return UNIT_NUMBER;
    case PARAMETER_CHOICE:
        return UNIT_CHOICE;
    }
    assert(false);
    return UNIT_NUMBER;
}

static void add_policy_parameter(const struct policy_kind *kind, size_t kind_index, size_t at)
{
    const struct policy_parameter *parameter = &kind->parameters[at];
    struct option *row = add_row();
    char *key = policy_keys[row_count - 1];
    char *text = policy_defaults[row_count - 1];
    int chars = snprintf(key, KEY_MAX, "policy.%s.%s", kind->name, parameter->name);
    assert(chars < KEY_MAX);
    print_default(parameter, text);
    double scale = parameter->unit == PARAMETER_DURATION ? 1e9 : 1;
    *row = (struct option){
        .key = key,
        .unit = unit_of(parameter->unit),
        .storage = OPTION_DOUBLE,
        .text_default = text,
        .min = parameter->value_min * scale,
        .max = parameter->value_max * scale,
        .choices = parameter->choices,
        .help = parameter->help,
        .offset = FIELD(policy.values) + (kind_index * POLICY_PARAMETERS_MAX + at) * sizeof(double),
    };
}

/* "workload.tgb" makes "workload.*", "store.get.base" both "store.*" and "store.get.*". */
static void add_groups(const char *key)
{
    for (const char *dot = strchr(key, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        char name[KEY_MAX];
        snprintf(name, sizeof(name), "%.*s.*", (int)(dot - key), key);
        size_t i = 0;
        while (i < group_count && strcmp(groups[i], name) != 0)
            i++;
        if (i < group_count)
            continue;
        assert(group_count < GROUPS_MAX);
        memcpy(groups[group_count++], name, sizeof(name));
    }
}

static void build(void)
{
    for (size_t i = 0; i < FIXED_ROWS; i++) {
        if (strcmp(fixed_rows[i].key, "store.profile") == 0) {
            add_policy_name();
            const struct policy_kind *kind;
            for (size_t k = 0; (kind = policy_kind_at(k)) != NULL; k++)
                for (size_t p = 0; p < policy_parameter_count(kind); p++)
                    add_policy_parameter(kind, k, p);
        }
        *add_row() = fixed_rows[i];
    }
    for (size_t i = 0; i < row_count; i++)
        add_groups(rows[i].key);
}

const char *option_group_at(size_t index)
{
    pthread_once(&built, build);
    return index < group_count ? groups[index] : NULL;
}

size_t option_count(void)
{
    pthread_once(&built, build);
    return row_count;
}

const struct option *option_at(size_t index)
{
    assert(index < option_count());
    return &rows[index];
}

size_t option_index(const struct option *option)
{
    assert(option >= rows && option < rows + option_count());
    return (size_t)(option - rows);
}
