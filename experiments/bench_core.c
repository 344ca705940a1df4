/* bench_core.c - `lakestream bench core`: what manifests cost as they grow. */
#include <math.h>
#include <time.h>

#include "core/manifest.h"
#include "core/random.h"
#include "experiments/bench.h"

#define BATCH_ENTRIES 8 /* of one commit */
#define PRODUCERS 32
#define APPENDS 20000 /* that are timed at one size; 1.6 % of the entries at most but the first */
#define LOOKUPS 200000
#define TRIMMED_LIVE 1000000
#define APPEND_GROWTH 3.0    /* target: an append to 10 M entries, against one to 10,000 */
#define LOOKUP_NS_MAX 5000.0 /* target, at 10 M entries: about 25 cache misses */

/* CPU time of this thread: there is nothing to wait for, and others may use the machine. */
static int64_t cpu_now_ns(void)
{
    struct timespec now;
    int failed = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    assert(!failed);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static struct manifest *append(struct manifest *base, uint64_t first_step)
{
    struct manifest_entry entries[BATCH_ENTRIES];
    uint32_t producer = (uint32_t)(base->version % PRODUCERS);
    struct manifest_change change = {
        .author = {.producer = producer, .epoch = 1},
        .first_step = first_step,
        .state = {.producer = producer, .epoch = 1, .last_commit_version = base->version + 1},
        .entry_count = BATCH_ENTRIES,
        .entries = entries,
    };
    for (uint64_t i = 0; i < BATCH_ENTRIES; i++)
        entries[i] = (struct manifest_entry){
            .tgb = {.producer = producer, .epoch = 1, .sequence = base->next_step + i}};
    struct manifest *next = manifest_append(base, &change);
    manifest_release(base);
    return next;
}

/* Mean time of an append. */
static double time_appends(struct manifest **chain)
{
    int64_t start_ns = cpu_now_ns();
    for (int i = 0; i < APPENDS; i++)
        *chain = append(*chain, 0);
    return (double)(cpu_now_ns() - start_ns) / APPENDS;
}

/* Mean time to find a random step; *wrong counts the entries that are another step's. */
static double time_lookups(const struct manifest *chain, uint64_t *wrong)
{
    struct random_stream stream = random_stream_make(1, chain->next_step);
    uint64_t live = manifest_live_entries(chain);
    int64_t start_ns = cpu_now_ns();
    for (int i = 0; i < LOOKUPS; i++) {
        uint64_t step = chain->first_step + random_next(&stream) % live;
        *wrong += manifest_entry_find(chain, step)->tgb.sequence != step;
    }
    return (double)(cpu_now_ns() - start_ns) / LOOKUPS;
}

/* Appends while a floor follows: dead entries are dropped now and then, at the cost of a copy. */
static double time_trimmed(void)
{
    struct manifest *chain = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    while (chain->next_step < TRIMMED_LIVE)
        chain = append(chain, 0);
    uint64_t appends = 2 * TRIMMED_LIVE / BATCH_ENTRIES;
    int64_t start_ns = cpu_now_ns();
    for (uint64_t i = 0; i < appends; i++)
        chain = append(chain, chain->next_step - TRIMMED_LIVE);
    double each_ns = (double)(cpu_now_ns() - start_ns) / (double)appends;
    manifest_release(chain);
    return each_ns;
}

static void report(struct bench *bench, const char *name, double value, double target)
{
    enum bench_verdict verdict = isnan(target)     ? BENCH_INFORMS
                                 : value <= target ? BENCH_MEETS
                                                   : BENCH_MISSES;
    bench_report(bench, &(struct bench_row){name, "ns of CPU", value, target, verdict, ""});
}

void bench_core(struct bench *bench)
{
    static const struct {
        uint64_t entries;
        const char *append;
        const char *lookup;
    } sizes[] = {
        {10000, "append, 10 k live", "find, 10 k live"},
        {100000, "append, 100 k live", "find, 100 k live"},
        {1000000, "append, 1 M live", "find, 1 M live"},
        {10000000, "append, 10 M live", "find, 10 M live"},
    };
    size_t count = sizeof(sizes) / sizeof(sizes[0]);
    struct manifest *chain = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    double first_ns = NAN;
    uint64_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        while (chain->next_step <= sizes[i].entries)
            chain = append(chain, 0);
        double lookup_ns = time_lookups(chain, &wrong);
        double append_ns = time_appends(&chain);
        if (i == 0)
            first_ns = append_ns;
        report(bench, sizes[i].append, append_ns, last ? APPEND_GROWTH * first_ns : NAN);
        report(bench, sizes[i].lookup, lookup_ns, last ? LOOKUP_NS_MAX : NAN);
    }
    manifest_release(chain);
    report(bench, "append and trim, 1 M live", time_trimmed(), NAN);
    if (wrong > 0)
        bench_report(
            bench, &(struct bench_row){"find", "wrong entries", (double)wrong, 0, BENCH_WRONG, ""});
}
