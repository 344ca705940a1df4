/* Experiment files: arms, sweeps, profiles and overrides; every bad file and its whole message. */
#include "experiments/config/experiment.h"

#include <stdlib.h>
#include <unistd.h>

#include "experiments/config/options.h"
#include "tests/experiments/expect.h"
#include "tests/scratch.h"

static char folder[SCRATCH_MAX];
static char path[SCRATCH_MAX + 16];

/* Loads the text as <folder>/x.yaml. The message comes back without the folder. */
static bool load(const char *text, struct overrides overrides, struct experiment *experiment,
                 char message[DIAGNOSTIC_MAX])
{
    struct diagnostic diagnostic = {{0}};
    scratch_make(folder);
    snprintf(path, sizeof(path), "%s/x.yaml", folder);
    scratch_write(path, text);
    bool ok = experiment_load(path, overrides, experiment, &diagnostic);
    const char *found = diagnostic.text;
    size_t used = 0;
    while (*found != '\0')
        if (strncmp(found, folder, strlen(folder)) == 0)
            found += strlen(folder) + 1;
        else
            message[used++] = *found++;
    message[used] = '\0';
    scratch_remove(folder);
    return ok;
}

struct row {
    const char *text;
    const char *expected;
};

static const struct row refused[] = {
    {"workload:\n  producer: 3\n",
     "x.yaml:2:3: unknown key 'workload.producer'; nearest: 'workload.producers'"},
    {"workload: 5\n",
     "x.yaml:1:11: 'workload' is a group of keys, such as 'workload.producers', found a value"},
    {"workload: [5]\n", "x.yaml:1:11: 'workload' takes keys, found a list"},
    {"workload.producers: [5]\n",
     "x.yaml:1:21: 'workload.producers' takes one value, found a list"},
    {"workload.producers: {x: 5}\n",
     "x.yaml:1:21: 'workload.producers' takes one value, found a mapping"},
    {"workload:\n  producers: 010\n",
     "x.yaml:2:14: workload.producers: '010' is octal-looking: write it without the leading zero; "
     "expected a whole number such as 32"},
    {"workload.jitter: nan\n",
     "x.yaml:1:18: workload.jitter: 'nan' is not finite; expected a ratio "
     "such as 0.037, 3.7%"},
    {"seeds: 0\n", "x.yaml:1:8: seeds: '0' is out of range; expected 1 to 100000"},
    {"run: {duration: 1h, warmup: 1h}\n",
     "x.yaml:1:29: run.warmup (1h) must be below run.duration (1h)"},
    {"name: a b\n", "x.yaml:1:7: name: 'a b' must be letters, digits, '_', '-' or '.'"},
    {"workloda: {producers: 3}\n", "x.yaml:1:1: unknown key 'workloda'; nearest: 'workload.*'"},
    {"arm:\n  - name: a\n", "x.yaml:1:1: unknown key 'arm'; nearest: 'arms'"},
    {"arms: 5\n", "x.yaml:1:7: 'arms' takes a list of mappings"},
    {"arms: {a: {seeds: 1}}\n", "x.yaml:1:7: 'arms' takes a list of mappings"},
    {"arms: [a]\n", "x.yaml:1:8: an arm is a mapping: - name: fixed-1s, then its keys"},
    {"arms:\n  - seeds: 1\n", "x.yaml:2:5: an arm needs a name, such as - name: fixed-1s"},
    {"arms:\n  - name: a/b\n",
     "x.yaml:2:11: an arm's name is up to 63 letters, digits, '_', '-' or '.'"},
    {"arms:\n  - {name: a}\n  - {name: a}\n", "x.yaml:3:12: a second arm is named 'a'"},
    {"arms:\n  - {name: a, title: b}\n",
     "x.yaml:2:22: 'title' belongs to the whole experiment: move it to the top"},
    {"arms:\n  - {name: a, sweeps: {key: b}}\n",
     "x.yaml:2:15: unknown key 'sweeps'; nearest: 'sweep'"},
    {"arms:\n  - {name: a, sweep: 5}\n",
     "x.yaml:2:22: expected sweep: {key: <config key>, values: [...]}"},
    {"arms:\n  - {name: a, sweep: {key: policy.fixed.gap}}\n",
     "x.yaml:2:22: a sweep needs 'key' and 'values'"},
    {"arms:\n  - {name: a, sweep: {values: [1s]}}\n",
     "x.yaml:2:22: a sweep needs 'key' and 'values'"},
    {"arms:\n  - {name: a, sweep: {key: gap, values: [1s]}}\n",
     "x.yaml:2:28: unknown key 'gap'; nearest: 'policy.fixed.gap'"},
    {"arms:\n  - {name: a, sweep: {key: seeds, values: [1]}}\n",
     "x.yaml:2:28: names and seeds cannot be swept"},
    {"arms:\n  - {name: a, sweep: {key: run.bin, value: [1s]}}\n",
     "x.yaml:2:37: unknown key 'sweep.value'; nearest: 'sweep.values'"},
    {"arms:\n  - {name: a, sweep: {key: run.bin, values: 1s}}\n",
     "x.yaml:2:45: 'sweep.values' takes a list"},
    {"arms:\n  - {name: a, sweep: {key: run.bin, values: [1s, [2s]]}}\n",
     "x.yaml:2:50: a swept value is one short value"},
    {"arms:\n  - {name: a, sweep: {key: run.bin, values: [1s, 1s]}}\n",
     "x.yaml:2:50: a second arm is named 'a/1s'"},
    {"arms:\n  - {name: a, sweep: {key: policy.dac.kappa, values: [0.1, 10%]}}\n",
     "x.yaml:2:60: arm 'a/0.1' has this value already"},
    {"arms:\n  - {name: a, sweep: {key: run.bin, values: [1s, 2]}}\n",
     "x.yaml:2:50: run.bin: '2' needs a unit: 10s, 250ms, 5min"},
    {"arms:\n  - {name: a, run.bin: 1s, sweep: {key: run.bin, values: [2s]}}\n",
     "x.yaml:2:41: the arm sets the key that it sweeps"},
    {"store.profile: s3-standrd\n",
     "x.yaml:1:16: store.profile: no profile 's3-standrd' in configs/profiles; it holds "
     "azure-premium, azure-standard, gcs, rgw-loopback, s3-express, s3-express-contended, "
     "s3-standard, s3-standard-contended, versitygw-loopback"},
    {"store.profile: ./none.yaml\n",
     "./none.yaml: cannot read: No such file or directory; check the path; configs/experiments "
     "holds the experiments that are shipped"},
    {"store.profile: x.yaml\n",
     "x.yaml:1:1: 'store.profile' does not belong into a profile: only store.* and price.* do"},
};

static void bad_files_say_where_and_what(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        struct experiment experiment;
        char message[DIAGNOSTIC_MAX];
        CU_ASSERT(!load(refused[i].text, (struct overrides){0}, &experiment, message));
        CU_ASSERT_PTR_NULL(experiment.arms);
        expect_text(refused[i].text, message, refused[i].expected);
    }
}

static void arms_and_sweeps_expand(void)
{
    static const char text[] = "title: t\nseeds: 2\npolicy.fixed.gap: 7s\narms:\n"
                               "  - {name: one, policy.name: fixed, seeds: 3}\n"
                               "  - name: gaps\n    policy.name: fixed\n"
                               "    sweep: {key: policy.fixed.gap, values: [1s, 2500ms]}\n";
    struct experiment experiment;
    char message[DIAGNOSTIC_MAX];
    CU_ASSERT_FATAL(load(text, (struct overrides){0}, &experiment, message));
    CU_ASSERT_STRING_EQUAL(experiment.name, "x");
    CU_ASSERT_STRING_EQUAL(experiment.title, "t");
    CU_ASSERT_EQUAL_FATAL(experiment.arm_count, 3);
    const struct arm *arms = experiment.arms;
    CU_ASSERT_STRING_EQUAL(arms[0].name, "one");
    CU_ASSERT_STRING_EQUAL(arms[0].group, "one");
    CU_ASSERT_PTR_NULL(arms[0].sweep_key);
    CU_ASSERT_EQUAL(arms[0].config.seeds, 3);
    CU_ASSERT_EQUAL(config_policy_values(&arms[0].config)[0], 7);
    CU_ASSERT_STRING_EQUAL(arms[2].name, "gaps/2500ms");
    CU_ASSERT_STRING_EQUAL(arms[2].group, "gaps");
    CU_ASSERT_STRING_EQUAL(arms[2].sweep_key, "policy.fixed.gap");
    CU_ASSERT_STRING_EQUAL(arms[2].sweep_value, "2500ms");
    CU_ASSERT_EQUAL(arms[2].config.seeds, 2);
    CU_ASSERT_EQUAL(config_policy_values(&arms[2].config)[0], 2.5);
    CU_ASSERT_STRING_EQUAL(arms[2].config.name, "x");
    const struct origin *origin =
        &arms[2].config.origins[option_index(option_find("policy.fixed.gap"))];
    CU_ASSERT_EQUAL(origin->line, 8);
    CU_ASSERT_EQUAL(origin->kind, ORIGIN_FILE);
    experiment_deinit(&experiment);
}

static void without_arms_there_is_one(void)
{
    struct experiment experiment;
    char message[DIAGNOSTIC_MAX];
    CU_ASSERT_FATAL(
        load("name: n\npolicy.name: aimd\n", (struct overrides){0}, &experiment, message));
    CU_ASSERT_STRING_EQUAL(experiment.name, "n");
    CU_ASSERT_EQUAL_FATAL(experiment.arm_count, 1);
    CU_ASSERT_STRING_EQUAL(experiment.arms[0].name, "aimd");
    CU_ASSERT_STRING_EQUAL(experiment.arms[0].group, "aimd");
    experiment_deinit(&experiment);
}

static void later_wins(void)
{
    static const char text[] = "store: {profile: s3-express, put.base: 9ms}\narms:\n"
                               "  - {name: a, store.put.base: 8ms}\n"
                               "  - {name: b, store.profile: gcs, seeds: 4}\n";
    static const char *const texts[] = {"seeds=5", "store.get.base=1ms", "seeds=6"};
    struct experiment experiment;
    char message[DIAGNOSTIC_MAX];
    CU_ASSERT_FATAL(load(text, (struct overrides){3, texts}, &experiment, message));
    CU_ASSERT_EQUAL_FATAL(experiment.arm_count, 2);
    const struct config *a = &experiment.arms[0].config;
    const struct config *b = &experiment.arms[1].config;
    CU_ASSERT_EQUAL(a->store.latency[STORE_PUT].base_ns, 8 * NS_PER_MS);
    CU_ASSERT_EQUAL(b->store.latency[STORE_PUT].base_ns, 9 * NS_PER_MS);
    CU_ASSERT_EQUAL(a->store.latency[STORE_LIST].base_ns, 8 * NS_PER_MS);
    CU_ASSERT_EQUAL(b->store.latency[STORE_LIST].base_ns, 200 * NS_PER_MS);
    CU_ASSERT_EQUAL(b->store.latency[STORE_GET].base_ns, NS_PER_MS);
    CU_ASSERT_EQUAL(b->seeds, 6);
    char origin[ORIGIN_TEXT_MAX];
    origin_print(&b->origins[option_index(option_find("store.create.base"))], origin);
    CU_ASSERT(strncmp(origin, "profile configs/profiles/gcs.yaml:", 34) == 0);
    origin_print(&b->origins[option_index(option_find("seeds"))], origin);
    CU_ASSERT_STRING_EQUAL(origin, "--set");
    experiment_deinit(&experiment);
}

static void bad_overrides_say_what(void)
{
    static const char text[] =
        "arms:\n  - {name: a, sweep: {key: run.bin, values: [1s]}}\n  - name: b\n";
    static const struct row rows[] = {
        {"seeds", "--set 'seeds': expected key=value, such as workload.producers=16"},
        {"=1", "--set '=1': expected key=value, such as workload.producers=16"},
        {"sedes=1", "--set: unknown key 'sedes'; nearest: 'seeds'"},
        {"seeds=", "--set: seeds: needs a value"},
        {"seeds=ten", "--set: seeds: 'ten' is not a whole number; expected one such as 32"},
        {"run.bin=1s", "--set run.bin: arm 'a' (x.yaml:2) sweeps this key"},
        {"run.warmup=5h", "--set: run.warmup (5h) must be below run.duration (5h)"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct experiment experiment;
        char message[DIAGNOSTIC_MAX];
        CU_ASSERT(!load(text, (struct overrides){1, &rows[i].text}, &experiment, message));
        expect_text(rows[i].text, message, rows[i].expected);
    }
}

static void shipped_files_load(void)
{
    static const struct {
        const char *path;
        const char *name;
        size_t arms; /* at least: more may be added to a file */
    } rows[] = {
        {"configs/experiments/p1.yaml", "p1", 7},
        {"configs/experiments/p1-quick.yaml", "p1-quick", 6},
        {"configs/experiments/frontier.yaml", "frontier", 90},
        {"configs/experiments/sensitivity.yaml", "sensitivity", 26},
        {"configs/experiments/sim_vs_live.yaml", "sim_vs_live", 40},
        {"configs/experiments/p6.yaml", "p6", 22},
        {"configs/experiments/p1_reclaimed.yaml", "p1_reclaimed", 8},
        {"configs/experiments/p7.yaml", "p7", 6},
        {"configs/experiments/p8.yaml", "p8", 2},
        {"configs/live/local.yaml", "live-local", 5},
        {"configs/live/s3.yaml", "live-s3", 3},
        {"configs/live/minio.yaml", "live-minio", 3},
        {"configs/live/rgw.yaml", "live-rgw", 3},
        {"configs/live/versitygw.yaml", "live-versitygw", 3},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct experiment experiment;
        struct diagnostic diagnostic = {{0}};
        bool ok = experiment_load(rows[i].path, (struct overrides){0}, &experiment, &diagnostic);
        expect_text(rows[i].path, diagnostic.text, "");
        CU_ASSERT_FATAL(ok);
        CU_ASSERT_STRING_EQUAL(experiment.name, rows[i].name);
        CU_ASSERT(experiment.arm_count >= rows[i].arms);
        experiment_deinit(&experiment);
    }
    static const char *const profiles[] = {
        "store.profile=s3-standard",
        "store.profile=s3-express",
        "store.profile=gcs",
        "store.profile=azure-premium",
        "store.profile=azure-standard",
        "store.profile=rgw-loopback",
        "store.profile=versitygw-loopback",
    };
    for (size_t i = 0; i < HARNESS_COUNT(profiles); i++) {
        struct experiment experiment;
        struct diagnostic diagnostic = {{0}};
        bool ok = experiment_load("configs/experiments/p1.yaml",
                                  (struct overrides){1, &profiles[i]}, &experiment, &diagnostic);
        expect_text(profiles[i], diagnostic.text, "");
        CU_ASSERT_FATAL(ok);
        experiment_deinit(&experiment);
    }
}

const struct harness_test experiment_tests[] = {
    HARNESS_TEST(bad_files_say_where_and_what),
    HARNESS_TEST(arms_and_sweeps_expand),
    HARNESS_TEST(without_arms_there_is_one),
    HARNESS_TEST(later_wins),
    HARNESS_TEST(bad_overrides_say_what),
    HARNESS_TEST(shipped_files_load),
    {0},
};
