/* Defaults, the checks of two keys together, and origins as text. */
#include "experiments/config/config.h"

#include "experiments/config/incident_list.h"
#include "experiments/config/options.h"
#include "experiments/config/profile.h"
#include "tests/experiments/expect.h"

static void defaults_are_the_papers_setting(void)
{
    static struct config config;
    struct diagnostic diagnostic;
    config_default(&config);
    CU_ASSERT(config_check(&config, &diagnostic));
    CU_ASSERT_EQUAL(config.seeds, 10);
    CU_ASSERT_EQUAL(config.workload.producers, 32);
    CU_ASSERT_EQUAL(config.workload.rate, 13.5e6);
    CU_ASSERT_EQUAL(config.workload.tgb_bytes, 32 << 20);
    CU_ASSERT_EQUAL(config.run.duration_ns, 5 * 3600 * NS_PER_S);
    CU_ASSERT_STRING_EQUAL(config_policy_kind(&config)->name, "dac");
    CU_ASSERT_PTR_EQUAL(config_policy_values(&config), config.policy.values[config.policy.index]);
    CU_ASSERT_EQUAL(config_price(&config, STORE_PUT_IF_ABSENT), config.price.put);
}

static void store_defaults_are_the_s3_standard_profile(void)
{
    static struct config defaults;
    static struct config loaded;
    struct diagnostic diagnostic = {{0}};
    config_default(&defaults);
    config_default(&loaded);
    bool ok = profile_load("configs/profiles/s3-standard.yaml", &loaded, &diagnostic);
    expect_text("s3-standard", diagnostic.text, "");
    CU_ASSERT_FATAL(ok);
    CU_ASSERT(memcmp(loaded.origins, defaults.origins, sizeof(loaded.origins)) != 0);
    memcpy(loaded.origins, defaults.origins, sizeof(loaded.origins));
    CU_ASSERT_EQUAL(memcmp(&loaded, &defaults, sizeof(loaded)), 0);
}

static void keys_that_contradict_are_named(void)
{
    static const struct {
        const char *key;
        const char *text;
        const char *expected;
    } rows[] = {
        {"run.warmup", "5h", "x.yaml:3:9: run.warmup (5h) must be below run.duration (5h)"},
        {"run.duration", "4min",
         "x.yaml:3:9: run.warmup (10min) must be below run.duration (4min)"},
        {"run.bin", "6h", "x.yaml:3:9: run.bin (6h) must be at most run.duration (5h)"},
        {"run.bin", "1ms",
         "x.yaml:3:9: run.bin (1ms) cuts run.duration into 18000000 bins of 32 producers; at most "
         "1000000 bins, and 268435456 bins times producers, can be recorded: make run.bin longer"},
        {"commit.gap_min", "2h",
         "x.yaml:3:9: commit.gap_min (2h) must be at most commit.gap_max (1h)"},
        {"commit.retry_max", "1ms",
         "x.yaml:3:9: commit.retry (100ms) must be at most commit.retry_max (1ms)"},
        {"policy.aimd.max", "10ms",
         "x.yaml:3:9: policy.aimd.min (100ms) must be at most policy.aimd.max (10ms)"},
    };
    const struct origin origin = {.kind = ORIGIN_FILE, .file = "x.yaml", .line = 3, .column = 9};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        static struct config config;
        struct diagnostic diagnostic;
        config_default(&config);
        CU_ASSERT_FATAL(
            option_set(&config, option_find(rows[i].key), rows[i].text, &origin, &diagnostic));
        CU_ASSERT(!config_check(&config, &diagnostic));
        expect_text(rows[i].key, diagnostic.text, rows[i].expected);
    }
}

/* 65,536 slices of 32 MiB hold 448 bytes each, of 2 MiB none. */
static void a_mesh_must_fit_the_tgbs(void)
{
    static struct config config;
    struct diagnostic diagnostic;
    const struct origin origin = {.kind = ORIGIN_SET};
    config_default(&config);
    CU_ASSERT_FATAL(option_set(&config, option_find("tgb.mesh"), "65536x1", &origin, &diagnostic));
    CU_ASSERT(config_check(&config, &diagnostic));
    CU_ASSERT_EQUAL(option_number(&config, option_find("tgb.mesh")), 65536);
    CU_ASSERT_FATAL(option_set(&config, option_find("workload.tgb"), "4MiB", &origin, &diagnostic));
    CU_ASSERT(!config_check(&config, &diagnostic));
    expect_text("tgb.mesh", diagnostic.text,
                "--set: workload.tgb (4MiB) cannot be cut by tgb.mesh (65536x1): a slice has 1 B "
                "to 4 GiB, beside 64 B for itself");
}

static void ranks_are_as_many_as_slices(void)
{
    static struct config config;
    struct diagnostic diagnostic = {{0}};
    const struct origin origin = {.kind = ORIGIN_SET};
    config_default(&config);
    CU_ASSERT_FATAL(option_set(&config, option_find("ranks.count"), "8", &origin, &diagnostic));
    CU_ASSERT(config_check(&config, &diagnostic));
    CU_ASSERT_FATAL(option_set(&config, option_find("tgb.mesh"), "4x2", &origin, &diagnostic));
    CU_ASSERT(config_check(&config, &diagnostic));
    CU_ASSERT_FATAL(option_set(&config, option_find("tgb.mesh"), "4x4", &origin, &diagnostic));
    CU_ASSERT(!config_check(&config, &diagnostic));
    expect_text("ranks.count", diagnostic.text,
                "--set: ranks.count (8) is not the number of slices of tgb.mesh (4x4, 16 slices); "
                "without a mesh every rank reads whole TGBs");
}

static void incidents_are_read(void)
{
    static const struct {
        const char *text;
        const char *said;
    } rows[] = {
        {"crash:1@5s+5s", "'crash:1@5s+5s': its kind is not producer, rank, rollback or outage; an "
                          "incident is written such as producer:0-1@60s+20s or outage@4min+15s"},
        {"outage:1@5s+5s", "not a kind, its processes, when, and for how long"},
        {"rank@5s+5s", "not a kind, its processes, when, and for how long"},
        {"rank:1@5s", "not a kind, its processes, when, and for how long"},
        {"rank:1+5s", "not a kind, its processes, when, and for how long"},
        {"rank:3-1@5s+5s", "there are no processes 3 to 1"},
        {"rank:x@5s+5s", "'rank:x@5s+5s': "},
        {"rank:1@5+5s", "'rank:1@5+5s': "},
        {"rank:1@5s+0s", "it lasts no time"},
        {"rank:1@5s+5s,", "'': its kind is not"},
    };
    struct incident_list list;
    struct diagnostic diagnostic;
    CU_ASSERT_TRUE(incident_list_parse("", &list, &diagnostic));
    CU_ASSERT_EQUAL(list.count, 0);
    CU_ASSERT_TRUE_FATAL(
        incident_list_parse("producer:0-1@60s+20s,outage@4min+250ms", &list, &diagnostic));
    CU_ASSERT_EQUAL(list.count, 2);
    CU_ASSERT_EQUAL(list.items[0].kind, INCIDENT_PRODUCER);
    CU_ASSERT_EQUAL(list.items[0].first, 0);
    CU_ASSERT_EQUAL(list.items[0].count, 2);
    CU_ASSERT_EQUAL(list.items[0].at_ns, 60 * NS_PER_S);
    CU_ASSERT_EQUAL(list.items[0].for_ns, 20 * NS_PER_S);
    CU_ASSERT_EQUAL(list.items[1].kind, INCIDENT_OUTAGE);
    CU_ASSERT_EQUAL(list.items[1].count, 1);
    CU_ASSERT_EQUAL(list.items[1].for_ns, 250 * NS_PER_MS);
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        CU_ASSERT_FALSE(incident_list_parse(rows[i].text, &list, &diagnostic));
        CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, rows[i].said));
    }
    static struct config config;
    const struct origin origin = {.kind = ORIGIN_SET};
    config_default(&config);
    CU_ASSERT_FATAL(
        option_set(&config, option_find("run.incidents"), "nothing", &origin, &diagnostic));
    CU_ASSERT(!config_check(&config, &diagnostic));
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "--set: run.incidents: 'nothing': "));
    static const char *const wrong[][2] = {
        {"producer:31-32@5s+5s", "incident 1 is about producer 32, but workload.producers is 32: "
                                 "they are counted from 0"},
        {"outage@1s+1s,rollback:0@5s+5s", "incident 2 is about rank 0, but ranks.count is 0"},
        {"outage@4h+1s,outage@5h+1s", "incident 2 begins when the run is over (run.duration is "},
        {"producer:1@5s+5s,producer:0-3@9s+1s", "incidents 1 and 2 of one process overlap"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(wrong); i++) {
        CU_ASSERT_FATAL(
            option_set(&config, option_find("run.incidents"), wrong[i][0], &origin, &diagnostic));
        CU_ASSERT(!config_check(&config, &diagnostic));
        CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, wrong[i][1]));
    }
    CU_ASSERT_FATAL(option_set(&config, option_find("run.incidents"),
                               "producer:1@5s+5s,outage@6s+1s,producer:1@11s+1s", &origin,
                               &diagnostic));
    CU_ASSERT(config_check(&config, &diagnostic));
}

static void origins_print_as_text(void)
{
    static const struct {
        struct origin origin;
        const char *text;
        const char *place;
    } rows[] = {
        {{.kind = ORIGIN_DEFAULT}, "default", "default"},
        {{.kind = ORIGIN_SET}, "--set", "--set"},
        {{ORIGIN_FILE, 2, 5, "a.yaml"}, "a.yaml:2", "a.yaml:2:5"},
        {{ORIGIN_PROFILE, 7, 1, "p.yaml"}, "profile p.yaml:7", "p.yaml:7:1"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        char text[ORIGIN_TEXT_MAX];
        origin_print(&rows[i].origin, text);
        expect_text("origin", text, rows[i].text);
        origin_print_place(&rows[i].origin, text);
        expect_text("place", text, rows[i].place);
    }
}

const struct harness_test config_tests[] = {
    HARNESS_TEST(defaults_are_the_papers_setting),
    HARNESS_TEST(store_defaults_are_the_s3_standard_profile),
    HARNESS_TEST(keys_that_contradict_are_named),
    HARNESS_TEST(a_mesh_must_fit_the_tgbs),
    HARNESS_TEST(ranks_are_as_many_as_slices),
    HARNESS_TEST(incidents_are_read),
    HARNESS_TEST(origins_print_as_text),
    {0},
};
