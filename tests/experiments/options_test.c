/* The options table: every row is whole, values survive printing, typos find their key. */
#include "experiments/config/options.h"

#include <stdlib.h>

#include "tests/experiments/expect.h"

static void every_row_is_whole(void)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_at(i);
        CU_ASSERT_PTR_EQUAL(option_find(option->key), option);
        CU_ASSERT_EQUAL(option_index(option), i);
        CU_ASSERT(option->offset < sizeof(struct config));
        CU_ASSERT_EQUAL(option->unit == UNIT_CHOICE, option->choices != NULL);
        CU_ASSERT(strchr(option->help, '\n') == NULL && *option->help != '\0');
        char tag[128];
        snprintf(tag, sizeof(tag), " [%s]", option->key);
        const char *end = option->help + strlen(option->help);
        bool assumed = strncmp(option->help, "ASSUMED: ", 9) == 0;
        bool tagged = strlen(option->help) > strlen(tag) && strcmp(end - strlen(tag), tag) == 0;
        if (assumed != tagged)
            printf("\n  %s: %s\n", option->key, option->help);
        CU_ASSERT_EQUAL(assumed, tagged);
    }
}

static void every_parameter_of_a_policy_has_a_key(void)
{
    const struct policy_kind *kind;
    struct config config;
    config_default(&config);
    for (size_t k = 0; (kind = policy_kind_at(k)) != NULL; k++) {
        for (size_t p = 0; p < policy_parameter_count(kind); p++) {
            char key[128];
            snprintf(key, sizeof(key), "policy.%s.%s", kind->name, kind->parameters[p].name);
            const struct option *option = option_find(key);
            CU_ASSERT_PTR_NOT_NULL_FATAL(option);
            CU_ASSERT_EQUAL(config.policy.values[k][p], kind->parameters[p].value_default);
            CU_ASSERT_EQUAL(option_number(&config, option), kind->parameters[p].value_default);
        }
    }
}

static void printed_values_read_back(void)
{
    const struct origin origin = {.kind = ORIGIN_SET};
    static struct config first;
    static struct config second;
    config_default(&first);
    config_default(&second);
    for (size_t i = 0; i < option_count(); i++) {
        char text[OPTION_TEXT_MAX];
        char again[OPTION_TEXT_MAX];
        struct diagnostic diagnostic;
        option_print(&first, option_at(i), text);
        if (*text == '\0')
            continue;
        CU_ASSERT(option_set(&second, option_at(i), text, &origin, &diagnostic));
        option_print(&second, option_at(i), again);
        expect_text(option_at(i)->key, again, text);
    }
    memcpy(second.origins, first.origins, sizeof(first.origins));
    CU_ASSERT_EQUAL(memcmp(&first, &second, sizeof(first)), 0);
}

static void values_land_in_their_fields(void)
{
    static const struct {
        const char *key;
        const char *text;
    } values[] = {
        {"title", "x y"},
        {"workload.producers", "7"},
        {"workload.mode", "background"},
        {"run.duration", "90s"},
        {"manifest.entry", "128B"},
        {"policy.name", "incr"},
        {"policy.incr.up", "1.5s"},
        {"policy.dac.window", "ewma"},
        {"policy.dac.kappa", "8%"},
        {"policy.dac.rls_samples", "32"},
        {"live.sync", "off"},
        {"live.style", "virtual"},
        {"live.payload", "unsigned"},
        {"live.deadline", "2s"},
        {"live.cap_bytes", "1TB"},
        {"store.list.base", "2ms"},
        {"store.create.slope", "1MB/s"},
        {"price.get", "0.25"},
        {"store.put.quantiles", "0:1 1:3"},
    };
    const struct origin origin = {.kind = ORIGIN_SET};
    static struct config config;
    config_default(&config);
    for (size_t i = 0; i < HARNESS_COUNT(values); i++) {
        struct diagnostic diagnostic = {{0}};
        bool ok =
            option_set(&config, option_find(values[i].key), values[i].text, &origin, &diagnostic);
        expect_text(values[i].key, diagnostic.text, "");
        CU_ASSERT(ok);
    }
    CU_ASSERT_STRING_EQUAL(config.title, "x y");
    CU_ASSERT_EQUAL(config.workload.producers, 7);
    CU_ASSERT_EQUAL(config.workload.mode, PRODUCER_BACKGROUND);
    CU_ASSERT_EQUAL(config.run.duration_ns, 90 * NS_PER_S);
    CU_ASSERT_EQUAL(config.entry_bytes, 128);
    CU_ASSERT_STRING_EQUAL(config_policy_kind(&config)->name, "incr");
    CU_ASSERT_EQUAL(option_number(&config, option_find("policy.incr.up")), 1.5);
    CU_ASSERT_EQUAL(option_number(&config, option_find("policy.dac.window")), 0);
    CU_ASSERT_EQUAL(option_number(&config, option_find("policy.dac.kappa")), 0.08);
    CU_ASSERT_EQUAL(option_number(&config, option_find("policy.dac.rls_samples")), 32);
    CU_ASSERT_EQUAL(config.live.sync, TOGGLE_OFF);
    CU_ASSERT_EQUAL(config.live.style, S3_STYLE_VIRTUAL);
    CU_ASSERT_EQUAL(config.live.payload, S3_PAYLOAD_UNSIGNED);
    CU_ASSERT_EQUAL(config.live.deadline_ns, 2 * NS_PER_S);
    CU_ASSERT_EQUAL(config.live.cap_bytes, 1000000000000);
    CU_ASSERT_EQUAL(config.store.latency[STORE_LIST].base_ns, 2 * NS_PER_MS);
    CU_ASSERT_EQUAL(config.store.latency[STORE_PUT_IF_ABSENT].stream_rate, 1e6);
    CU_ASSERT_EQUAL(config_price(&config, STORE_GET), 0.25);
    CU_ASSERT_EQUAL(config.store.latency[STORE_PUT].quantiles.count, 2);
}

static void bad_values_name_place_and_key(void)
{
    static const struct {
        const char *key;
        const char *text;
        const char *expected;
    } rows[] = {
        {"workload.producers", "0",
         "x.yaml:3:9: workload.producers: '0' is out of range; expected 1 to 65536"},
        {"workload.tgb", "1B",
         "x.yaml:3:9: workload.tgb: '1B' is out of range; expected 1KiB to "
         "16GiB"},
        {"run.duration", "5", "x.yaml:3:9: run.duration: '5' needs a unit: 10s, 250ms, 5min"},
        {"policy.dac.estimator", "modle",
         "x.yaml:3:9: policy.dac.estimator: 'modle' is not a choice; expected one of "
         "model|rate|feedback"},
        {"policy.dac.rls_samples", "2.5",
         "x.yaml:3:9: policy.dac.rls_samples: '2.5' is not a whole number without a unit; expected "
         "a whole number such as 32"},
        {"policy.dac.kappa", "100%",
         "x.yaml:3:9: policy.dac.kappa: '100%' is out of range; expected 0.0001 to 0.99"},
        {"policy.aimd.min", "0s",
         "x.yaml:3:9: policy.aimd.min: '0s' is out of range; expected 1ms to 24h"},
        {"live.store", "", "x.yaml:3:9: live.store: needs a value"},
        {"title", "a\tb", "x.yaml:3:9: title: the value holds a line break or control character"},
        {"name", "0123456789012345678901234567890123456789012345678901234567890123",
         "x.yaml:3:9: name: '01234567890123456789012345678901...' is longer than 63 bytes"},
    };
    const struct origin origin = {.kind = ORIGIN_FILE, .file = "x.yaml", .line = 3, .column = 9};
    static struct config config;
    static struct config before;
    config_default(&config);
    before = config;
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct diagnostic diagnostic;
        CU_ASSERT(
            !option_set(&config, option_find(rows[i].key), rows[i].text, &origin, &diagnostic));
        expect_text(rows[i].text, diagnostic.text, rows[i].expected);
    }
    CU_ASSERT_EQUAL(memcmp(&config, &before, sizeof(config)), 0);
}

/* Whatever policies there are. */
static void an_unknown_policy_is_told_the_table(void)
{
    char expected[512] = "x.yaml:3:9: policy.name: 'dca' is not a choice; expected one of ";
    for (size_t i = 0; policy_kind_at(i) != NULL; i++) {
        size_t length = strlen(expected);
        snprintf(expected + length, sizeof(expected) - length, "%s%s", i > 0 ? "|" : "",
                 policy_kind_at(i)->name);
    }
    const struct origin origin = {.kind = ORIGIN_FILE, .file = "x.yaml", .line = 3, .column = 9};
    static struct config config;
    struct diagnostic diagnostic;
    config_default(&config);
    CU_ASSERT(!option_set(&config, option_find("policy.name"), "dca", &origin, &diagnostic));
    expect_text("dca", diagnostic.text, expected);
}

/* In a file, by --set and by --seeds alike. */
static void as_many_seeds_as_by_flag(void)
{
    const struct option *seeds = option_find("seeds");
    CU_ASSERT_EQUAL((uint64_t)seeds->max, CONFIG_SEEDS_MAX);
    static struct config config;
    struct diagnostic diagnostic;
    const struct origin origin = {.kind = ORIGIN_SET};
    config_default(&config);
    CU_ASSERT_TRUE(option_set(&config, seeds, "20000", &origin, &diagnostic));
    CU_ASSERT_EQUAL(config.seeds, 20000);
}

static void typos_find_their_key(void)
{
    static const char *const also[] = {"arms", NULL};
    static const struct {
        const char *typo;
        const char *expected;
    } rows[] = {
        {"workload.producer", "workload.producers"},
        {"workload.prodcuers", "workload.producers"},
        {"producers", "workload.producers"},
        {"kappa", "policy.dac.kappa"},
        {"policy.kappa", "policy.dac.kappa"},
        {"policy.fixed.gp", "policy.fixed.gap"},
        {"store.get.bass", "store.get.base"},
        {"duration", "run.duration"},
        {"run.duraton", "run.duration"},
        {"arm", "arms"},
        {"seedz", "seeds"},
        {"seed_count", "seeds"},
        {"policy.dac.kap", "policy.dac.kappa"},
        {"run.dur", "run.duration"},
        {"WORKLOAD.PRODUCERS", "workload.producers"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++)
        expect_text(rows[i].typo, option_nearest(rows[i].typo, also), rows[i].expected);
    char longest[4096];
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    CU_ASSERT_PTR_NOT_NULL(option_nearest(longest, NULL));
    CU_ASSERT_PTR_NOT_NULL(option_nearest("", NULL));
}

static void the_effective_config_has_origins(void)
{
    static struct config config;
    struct diagnostic diagnostic;
    const struct origin file = {.kind = ORIGIN_FILE, .file = "x.yaml", .line = 3, .column = 9};
    config_default(&config);
    CU_ASSERT(option_set(&config, option_find("seeds"), "4", &file, &diagnostic));
    json_t *json = options_json(&config);
    CU_ASSERT_EQUAL(json_object_size(json), option_count());
    const json_t *seeds = json_object_get(json, "seeds");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(seeds, "value")), "4");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(seeds, "origin")), "x.yaml:3");
    json_decref(json);
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    options_print(&config, memory);
    options_print_help(memory);
    fclose(memory);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "seeds                      4                x.yaml:3\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "workload.tgb: 1KiB to 16GiB (default 32MiB)\n"));
    free(text);
}

const struct harness_test options_tests[] = {
    HARNESS_TEST(every_row_is_whole),
    HARNESS_TEST(every_parameter_of_a_policy_has_a_key),
    HARNESS_TEST(printed_values_read_back),
    HARNESS_TEST(values_land_in_their_fields),
    HARNESS_TEST(bad_values_name_place_and_key),
    HARNESS_TEST(an_unknown_policy_is_told_the_table),
    HARNESS_TEST(as_many_seeds_as_by_flag),
    HARNESS_TEST(typos_find_their_key),
    HARNESS_TEST(the_effective_config_has_origins),
    {0},
};
