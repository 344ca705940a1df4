/* options_table.c - the rows: one per config key, and those that are generated from core's
 * policies. Bounds are in the unit's own scale: nanoseconds, bytes, bytes per second. */
#include <pthread.h>
#include <string.h>

#include "experiments/config/options_rows.h"
#include "sim/latency.h"
#include "sim/station.h"

#define RATE_MAX 1e15
#define POLICY_NAME_DEFAULT "dac"
#define ON_OFF "off|on" /* in the order of enum toggle */

static_assert(sizeof(enum producer_mode) == sizeof(uint32_t), "choices are stored as uint32_t");
static_assert(sizeof(enum commit_find) == sizeof(uint32_t), "choices are stored as uint32_t");
static_assert(sizeof(enum toggle) == sizeof(uint32_t), "choices are stored as uint32_t");
static_assert(sizeof(enum s3_style) == sizeof(uint32_t), "choices are stored as uint32_t");
static_assert(sizeof(enum s3_payload) == sizeof(uint32_t), "choices are stored as uint32_t");
static_assert(S3_STYLE_AUTO == 0 && S3_STYLE_PATH == 1 && S3_PAYLOAD_SIGNED == 0,
              "choices are in the enums' order");
static_assert(PRODUCER_INLINE == 0 && COMMIT_FIND_LIST == 0, "choices are in the enums' order");

#define QUANTILES_HELP                                                                             \
    "measured factors of the median instead of the lognormal, as p:factor: 0:0.6 0.5:1 1:4"

/* live.fault.<class>.<kind> */
#define FAULT_ROW(class_name, class, kind_name, kind, what)                                        \
    {                                                                                              \
        "live.fault." class_name "." kind_name, UNIT_RATIO, 0, "0", 0, 1, NULL, "share of " what,  \
            FIELD(live.fault.probability[class][kind])                                             \
    }

static const struct option fixed_rows[] = {
    {"name", UNIT_TEXT, 0, "", 0, CONFIG_NAME_MAX, NULL,
     "name of the experiment in the database and in file names", FIELD(name)},
    {"title", UNIT_TEXT, 0, "", 0, CONFIG_TITLE_MAX, NULL, "one line about it for people",
     FIELD(title)},
    {"seeds", UNIT_COUNT, 0, "10", 1, CONFIG_SEEDS_MAX, NULL, "how many seeds every arm runs with",
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

    {"tgb.mesh", UNIT_MESH, 0, "none", 0, 0, NULL,
     "slices of each TGB: data-parallel x context-parallel ranks; none: plain bytes (paper: D x C)",
     FIELD(mesh)},
    {"tgb.zstd", UNIT_COUNT, 0, "0", 0, TGB_LEVEL_MAX, NULL,
     "level of zstd for the slices of given files; 0: not compressed", FIELD(zstd_level)},

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
    {"store.get.work", UNIT_DURATION, 0, "0s", 0, HOUR, NULL,
     "ASSUMED: time of one processor that a GET takes, with store.cores [store.get.work]",
     FIELD(store.station.work_ns[STORE_GET])},
    {"store.get.work_rate", UNIT_RATE, 0, "0B/s", 0, RATE_MAX, NULL,
     "ASSUMED: bytes of a GET that one processor handles in a second; 0: bytes take none "
     "[store.get.work_rate]",
     FIELD(store.station.work_rate[STORE_GET])},
    {"store.put.base", UNIT_DURATION, 0, "60ms", 0, HOUR, NULL,
     "median time of a PUT without its bytes", FIELD(store.latency[STORE_PUT].base_ns)},
    {"store.put.slope", UNIT_RATE, 0, "50MiB/s", 1, RATE_MAX, NULL,
     "bandwidth of one PUT stream; bytes / slope is added to the base",
     FIELD(store.latency[STORE_PUT].stream_rate)},
    {"store.put.sigma", UNIT_NUMBER, 0, "0.29", 0, LATENCY_SIGMA_MAX, NULL,
     "sigma of the lognormal factor of a PUT; 0: constant", FIELD(store.latency[STORE_PUT].sigma)},
    {"store.put.quantiles", UNIT_QUANTILES, 0, "", 0, 0, NULL, QUANTILES_HELP,
     FIELD(store.latency[STORE_PUT].quantiles)},
    {"store.put.work", UNIT_DURATION, 0, "0s", 0, HOUR, NULL,
     "ASSUMED: time of one processor that a PUT takes, with store.cores [store.put.work]",
     FIELD(store.station.work_ns[STORE_PUT])},
    {"store.put.work_rate", UNIT_RATE, 0, "0B/s", 0, RATE_MAX, NULL,
     "ASSUMED: bytes of a PUT that one processor handles in a second; 0: bytes take none "
     "[store.put.work_rate]",
     FIELD(store.station.work_rate[STORE_PUT])},
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
    {"store.create.work", UNIT_DURATION, 0, "0s", 0, HOUR, NULL,
     "ASSUMED: time of one processor that a create takes, with store.cores [store.create.work]",
     FIELD(store.station.work_ns[STORE_PUT_IF_ABSENT])},
    {"store.create.work_rate", UNIT_RATE, 0, "0B/s", 0, RATE_MAX, NULL,
     "ASSUMED: bytes of a create that one processor handles in a second; 0: bytes take none "
     "[store.create.work_rate]",
     FIELD(store.station.work_rate[STORE_PUT_IF_ABSENT])},
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
    {"store.list.work", UNIT_DURATION, 0, "0s", 0, HOUR, NULL,
     "ASSUMED: time of one processor that a LIST takes, with store.cores [store.list.work]",
     FIELD(store.station.work_ns[STORE_LIST])},
    {"store.delete.base", UNIT_DURATION, 0, "30ms", 0, HOUR, NULL,
     "ASSUMED: not measured: median time of a DELETE [store.delete.base]",
     FIELD(store.latency[STORE_DELETE].base_ns)},
    {"store.delete.sigma", UNIT_NUMBER, 0, "0.3", 0, LATENCY_SIGMA_MAX, NULL,
     "ASSUMED: not measured: sigma of the lognormal factor of a DELETE [store.delete.sigma]",
     FIELD(store.latency[STORE_DELETE].sigma)},
    {"store.delete.quantiles", UNIT_QUANTILES, 0, "", 0, 0, NULL, QUANTILES_HELP,
     FIELD(store.latency[STORE_DELETE].quantiles)},
    {"store.delete.work", UNIT_DURATION, 0, "0s", 0, HOUR, NULL,
     "ASSUMED: time of one processor that a DELETE takes, with store.cores [store.delete.work]",
     FIELD(store.station.work_ns[STORE_DELETE])},

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
    {"store.cores", UNIT_NUMBER, 0, "0", 0, STATION_CORES_MAX, NULL,
     "ASSUMED: processors that all requests share, as calibrate measures them; 0: no limit "
     "[store.cores]",
     FIELD(store.station.cores)},
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
     "where a live run commits: file://directory or s3://bucket/prefix", FIELD(live.store)},
    {"live.endpoint", UNIT_TEXT, 0, "", 0, CONFIG_PATH_MAX, NULL,
     "where an s3:// store answers, as http://host:port; empty: AWS_ENDPOINT_URL, else AWS's own",
     FIELD(live.endpoint)},
    {"live.region", UNIT_TEXT, 0, "", 0, CONFIG_NAME_MAX, NULL,
     "of an s3:// store; empty: AWS_REGION, else the profile's, else us-east-1",
     FIELD(live.region)},
    {"live.profile", UNIT_TEXT, 0, "", 0, CONFIG_NAME_MAX, NULL,
     "of the shared credentials and config files; empty: AWS_PROFILE, else default",
     FIELD(live.profile)},
    {"live.ca_file", UNIT_TEXT, 0, "", 0, CONFIG_PATH_MAX, NULL,
     "certificates to trust over https, PEM; empty: AWS_CA_BUNDLE, else the system's",
     FIELD(live.ca_file)},
    {"live.style", UNIT_CHOICE, 0, "auto", 0, 0, "auto|path|virtual",
     "of s3:// requests: the bucket in the path, or in the host's name (auto: as AWS wants it)",
     FIELD(live.style)},
    {"live.payload", UNIT_CHOICE, 0, "signed", 0, 0, "signed|unsigned",
     "whether bodies are hashed for their signature; unsigned needs https", FIELD(live.payload)},
    {"live.connections", UNIT_COUNT, 0, "64", 1, 1024, NULL,
     "connections at once of one process to an s3:// store", FIELD(live.connections)},
    {"live.deadline", UNIT_DURATION, 0, "15s", SECONDS(1e-3), HOUR, NULL,
     "for one request to an s3:// store; a body gets a second for each MB on top",
     FIELD(live.deadline_ns)},
    {"live.cap_dollars", UNIT_NUMBER, 0, "5", 0, 1e9, NULL,
     "a live sweep of arms and seeds stops at about this cost, by price.*; file:// is free; what "
     "an s3:// store is sent a second time is not counted",
     FIELD(live.cap_dollars)},
    {"live.cap_bytes", UNIT_BYTES, 0, "100GB", 1, 1e18, NULL,
     "a live sweep stops when it moved about so many bytes, up and down together",
     FIELD(live.cap_bytes)},
    {"live.cap_requests", UNIT_COUNT, 0, "10000000", 1, 1e18, NULL,
     "a live sweep stops at about so many requests", FIELD(live.cap_requests)},
    {"live.sync", UNIT_CHOICE, 0, "on", 0, 0, ON_OFF,
     "whether what was acknowledged is on the disk (fsync)", FIELD(live.sync)},
    {"live.restart", UNIT_CHOICE, 0, "on", 0, 0, ON_OFF,
     "whether a producer whose process died is started again", FIELD(live.restart)},
    {"live.workers", UNIT_COUNT, 0, "4", 1, 256, NULL,
     "threads for blocking file work in one process", FIELD(live.workers)},
    {"live.shape", UNIT_CHOICE, 0, "off", 0, 0, ON_OFF,
     "whether a live store is made as slow as the latencies of store.*; neither its bandwidth nor "
     "its limits",
     FIELD(live.shape)},
    FAULT_ROW("read", LIVE_FAULT_READ, "lost_answer", FAULT_LOST_ANSWER,
              "GETs and LISTs whose answer gets lost"),
    FAULT_ROW("read", LIVE_FAULT_READ, "delay", FAULT_DELAY, "GETs and LISTs that take longer"),
    FAULT_ROW("read", LIVE_FAULT_READ, "reorder", FAULT_REORDER,
              "GETs and LISTs that are held until a later operation is answered"),
    FAULT_ROW("read", LIVE_FAULT_READ, "short_page", FAULT_SHORT_PAGE,
              "GETs and LISTs of which a LIST's page ends after a few keys"),
    FAULT_ROW("read", LIVE_FAULT_READ, "error", FAULT_ERROR,
              "GETs and LISTs answered 500, not applied"),
    FAULT_ROW("read", LIVE_FAULT_READ, "throttled", FAULT_THROTTLED,
              "GETs and LISTs answered 503, not applied"),
    FAULT_ROW("read", LIVE_FAULT_READ, "refused", FAULT_REFUSED,
              "GETs and LISTs refused for good, as by a 403, which ends who asks"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "lost_request", FAULT_LOST_REQUEST,
              "PUTs and DELETEs that get lost on their way"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "lost_answer", FAULT_LOST_ANSWER,
              "PUTs and DELETEs that are applied, and whose answer gets lost"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "late", FAULT_LATE,
              "PUTs and DELETEs that are given up and land later"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "delay", FAULT_DELAY,
              "PUTs and DELETEs that are applied later"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "reorder", FAULT_REORDER,
              "PUTs and DELETEs that are held until a later operation is answered"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "error_applied", FAULT_ERROR_APPLIED,
              "PUTs and DELETEs answered 500, and applied"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "error", FAULT_ERROR,
              "PUTs and DELETEs answered 500, not applied"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "throttled", FAULT_THROTTLED,
              "PUTs and DELETEs answered 503, not applied"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "refused", FAULT_REFUSED,
              "PUTs and DELETEs refused for good, not applied"),
    FAULT_ROW("write", LIVE_FAULT_WRITE, "refused_applied", FAULT_REFUSED_APPLIED,
              "PUTs and DELETEs that are sent twice, applied, and then refused for good"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "lost_request", FAULT_LOST_REQUEST,
              "creates that get lost on their way"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "lost_answer", FAULT_LOST_ANSWER,
              "creates that are applied, and whose answer gets lost"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "late", FAULT_LATE,
              "creates that are given up and land later"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "delay", FAULT_DELAY, "creates that are applied later"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "reorder", FAULT_REORDER,
              "creates that are held until a later operation is answered"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "error_applied", FAULT_ERROR_APPLIED,
              "creates answered 500, and applied"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "busy", FAULT_BUSY, "creates answered 409, not applied"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "error", FAULT_ERROR,
              "creates answered 500, not applied"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "throttled", FAULT_THROTTLED,
              "creates answered 503, not applied"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "throttled_applied", FAULT_THROTTLED_APPLIED,
              "creates answered 503, and applied"),
    FAULT_ROW("create", LIVE_FAULT_CREATE, "refused", FAULT_REFUSED,
              "creates refused for good, not applied"),
    {"live.fault.burst", UNIT_RATIO, 0, "0", 0, 1, NULL,
     "share of all operations that a burst answers 503, of all producers, or ranks, at once",
     FIELD(live.fault.burst)},
    {"live.fault.burst_period", UNIT_DURATION, 0, "60s", SECONDS(0.1), 24 * HOUR, NULL,
     "a burst begins at a random moment in each of these", FIELD(live.fault.burst_period_ns)},
    {"live.fault.burst_max", UNIT_DURATION, 0, "10s", SECONDS(1e-3), HOUR, NULL,
     "the longest burst", FIELD(live.fault.burst_ns)},
    {"live.fault.delay_max", UNIT_DURATION, 0, "1s", SECONDS(1e-3), HOUR, NULL,
     "the longest delay, and the longest that one is held for others to overtake",
     FIELD(live.fault.delay_ns)},
    {"live.fault.timeout", UNIT_DURATION, 0, "2s", SECONDS(1e-3), HOUR, NULL,
     "after so long a producer gives up an answer that live.fault lost",
     FIELD(live.fault.timeout_ns)},
    {"live.fault.late_max", UNIT_DURATION, 0, "10s", SECONDS(1e-3), HOUR, NULL,
     "how late, at most, a request lands that was given up", FIELD(live.fault.late_ns)},
    {"live.patience", UNIT_DURATION, 0, "5min", SECONDS(0.1), 24 * HOUR, NULL,
     "how long the ranks of a run on several nodes wait for each other", FIELD(live.patience_ns)},
    {"live.lead", UNIT_DURATION, 0, "2s", SECONDS(0.1), HOUR, NULL,
     "how long before the start of a run on several nodes its time is told", FIELD(live.lead_ns)},
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
    case PARAMETER_COUNT:
        unit_print_count((uint64_t)parameter->value_default, text);
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
    case PARAMETER_COUNT:
        return UNIT_COUNT;
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
            struct option_rows ranks = option_rows_of_ranks();
            for (size_t k = 0; k < ranks.count; k++)
                *add_row() = ranks.rows[k];
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
