/* config_target.c - configs: what is read prints to text that is read back to the same value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/experiment.h"
#include "experiments/config/options.h"
#include "experiments/config/profile.h"
#include "experiments/config/yaml_reader.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

#define ARMS_CHECKED_MAX 4
#define OPTIONS_SHARE 8

void fuzz_yaml(const uint8_t *data, size_t size);
void fuzz_experiment(const uint8_t *data, size_t size);
void fuzz_profile(const uint8_t *data, size_t size);
void fuzz_option(const uint8_t *data, size_t size);
void fuzz_unit(const uint8_t *data, size_t size);

static char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    assert(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static void check_diagnostic(const struct diagnostic *diagnostic)
{
    assert(memchr(diagnostic->text, '\0', sizeof(diagnostic->text)) != NULL);
    assert(diagnostic->text[0] != '\0');
}

void fuzz_yaml(const uint8_t *data, size_t size)
{
    struct yaml_file file;
    struct diagnostic diagnostic = {0};
    if (!yaml_file_parse("fuzz.yaml", (const char *)data, size, &file, &diagnostic)) {
        check_diagnostic(&diagnostic);
        return;
    }
    for (size_t i = 0; i < file.count; i++) {
        const struct yaml_node *node = &file.nodes[i];
        assert(strlen(node->key) < YAML_KEY_MAX);
        assert((node->kind == YAML_SCALAR) == (node->value != NULL));
        assert(node->line > 0 && node->column > 0);
    }
    yaml_file_deinit(&file);
}

/* The option's value prints to text that sets it again. */
static void check_option(const struct config *config, const struct option *option)
{
    static struct config again;
    char text[OPTION_TEXT_MAX];
    char text_again[OPTION_TEXT_MAX];
    struct origin origin = {.kind = ORIGIN_SET};
    struct diagnostic diagnostic;
    again = *config;
    option_print(config, option, text);
    if (text[0] == '\0')
        return;
    bool set = option_set(&again, option, text, &origin, &diagnostic);
    assert(set);
    option_print(&again, option, text_again);
    assert(strcmp(text, text_again) == 0);
    double value = option_number(config, option);
    assert(isnan(value) || value == option_number(&again, option));
}

/* A first line "--set key=value" is an override. */
void fuzz_experiment(const uint8_t *data, size_t size)
{
    static const char flag[] = "--set ";
    char *override = NULL;
    const uint8_t *line_end = size > 0 ? memchr(data, '\n', size) : NULL;
    if (line_end != NULL && size >= sizeof(flag) && memcmp(data, flag, sizeof(flag) - 1) == 0) {
        const uint8_t *from = data + sizeof(flag) - 1;
        override = text_of(from, from < line_end ? (size_t)(line_end - from) : 0);
        size -= (size_t)(line_end + 1 - data);
        data = line_end + 1;
    }
    char path[SCRATCH_PATH_MAX];
    struct experiment experiment;
    struct diagnostic diagnostic = {0};
    const char *texts[] = {override};
    struct overrides overrides = {.count = override != NULL ? 1 : 0, .texts = texts};
    int file = scratch_open(data, size, path);
    if (experiment_load(path, overrides, &experiment, &diagnostic)) {
        assert(experiment.arm_count > 0 && experiment.arm_count <= EXPERIMENT_ARMS_MAX);
        for (size_t i = 0; i < experiment.arm_count && i < ARMS_CHECKED_MAX; i++) {
            for (size_t k = 0; k < option_count(); k++)
                check_option(&experiment.arms[i].config, option_at(k));
            options_print(&experiment.arms[i].config, scratch_sink());
            json_decref(options_json(&experiment.arms[i].config));
        }
        experiment_deinit(&experiment);
    } else {
        check_diagnostic(&diagnostic);
    }
    scratch_close(file);
    free(override);
}

void fuzz_profile(const uint8_t *data, size_t size)
{
    static struct config defaults;
    static struct config config;
    static bool filled;
    char path[SCRATCH_PATH_MAX];
    struct diagnostic diagnostic = {0};
    if (!filled)
        config_default(&defaults);
    filled = true;
    config = defaults;
    int file = scratch_open(data, size, path);
    bool loaded = profile_load(path, &config, &diagnostic);
    scratch_close(file);
    if (!loaded) {
        check_diagnostic(&diagnostic);
        return;
    }
    /* Each input looks at some of them: all would be slow. */
    for (size_t i = size % OPTIONS_SHARE; i < option_count(); i += OPTIONS_SHARE)
        if (strncmp(option_at(i)->key, "store.", 6) == 0 ||
            strncmp(option_at(i)->key, "price.", 6) == 0)
            check_option(&config, option_at(i));
}

/* "key=value" as --set has it; without a key that there is, the first byte picks one. */
static char *option_value_of(const uint8_t *data, size_t size, const struct option **option)
{
    char *text = text_of(data, size);
    char *equals = strchr(text, '=');
    *option = NULL;
    if (equals != NULL) {
        *equals = '\0';
        *option = option_find(text);
        *equals = '=';
    }
    size_t skipped = *option != NULL ? (size_t)(equals + 1 - text) : 1;
    if (*option == NULL)
        *option = option_at(data[0] % option_count());
    memmove(text, text + skipped, size + 1 - skipped);
    return text;
}

void fuzz_option(const uint8_t *data, size_t size)
{
    static struct config config;
    const struct option *option;
    if (size == 0)
        return;
    char *text = option_value_of(data, size, &option);
    struct origin origin = {.kind = ORIGIN_SET};
    struct diagnostic diagnostic = {0};
    config_default(&config);
    if (option_set(&config, option, text, &origin, &diagnostic)) {
        check_option(&config, option);
        if (!config_check(&config, &diagnostic))
            check_diagnostic(&diagnostic);
    } else {
        check_diagnostic(&diagnostic);
    }
    assert(option_nearest(text, NULL) != NULL);
    free(text);
}

/* One pair of functions: a parsed value prints to text that parses to the same value. */
#define CHECK_PAIR(type, parse, print, text_max)                                                   \
    do {                                                                                           \
        type value = {0};                                                                          \
        type again = {0};                                                                          \
        char printed[text_max];                                                                    \
        struct diagnostic diagnostic = {0};                                                        \
        if (!parse(text, &value, &diagnostic)) {                                                   \
            check_diagnostic(&diagnostic);                                                         \
            break;                                                                                 \
        }                                                                                          \
        print(value, printed);                                                                     \
        bool read = parse(printed, &again, &diagnostic);                                           \
        assert(read &&memcmp(&value, &again, sizeof(value)) == 0);                                 \
    } while (0)

static void print_quantiles(struct quantile_table table, char text[QUANTILES_TEXT_MAX])
{
    quantile_table_print(&table, text);
}

void fuzz_unit(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    CHECK_PAIR(int64_t, unit_parse_duration, unit_print_duration, UNIT_TEXT_MAX);
    CHECK_PAIR(uint64_t, unit_parse_bytes, unit_print_bytes, UNIT_TEXT_MAX);
    CHECK_PAIR(double, unit_parse_rate, unit_print_rate, UNIT_TEXT_MAX);
    CHECK_PAIR(uint64_t, unit_parse_count, unit_print_count, UNIT_TEXT_MAX);
    CHECK_PAIR(double, unit_parse_ratio, unit_print_number, UNIT_TEXT_MAX);
    CHECK_PAIR(double, unit_parse_number, unit_print_number, UNIT_TEXT_MAX);
    CHECK_PAIR(struct quantile_table, quantile_table_parse, print_quantiles, QUANTILES_TEXT_MAX);
    uint32_t index;
    struct diagnostic diagnostic;
    if (unit_parse_choice(text, "on|off|auto", &index, &diagnostic)) {
        char printed[UNIT_TEXT_MAX];
        unit_print_choice(index, "on|off|auto", printed);
        assert(strcmp(text, printed) == 0);
    }
    free(text);
}
