/* experiment.c - reads an experiment file and builds the config of every arm.
 *
 * Method: the nodes of the file are resolved into settings once; each arm starts from the defaults
 * and applies profile, shared settings, its own, its sweep's value and --set, in this order. */
#include "experiments/config/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/config/profile.h"
#include "experiments/config/setting.h"
#include "experiments/config/yaml_reader.h"

#define ARM_SHARED UINT32_MAX /* the setting stands outside of the arms */
#define KEY_SWEEP_VALUES ".sweep.values["

struct setting {
    const struct option *option;
    const char *text; /* borrowed from the YAML file or the command line */
    struct origin origin;
    uint32_t arm;
};

/* An arm before expansion; nodes are borrowed from the YAML file. */
struct arm_plan {
    const struct yaml_node *node;
    const struct yaml_node *name;
    const struct yaml_node *sweep;
    const struct yaml_node *sweep_key;
    const struct option *sweep_option;
    size_t value_first; /* index of the node of the first value */
    size_t value_count;
};

struct loader {
    struct experiment *experiment;
    struct diagnostic *diagnostic;
    const char *path;
    struct yaml_file file;
    size_t setting_count;
    struct setting *settings;
    size_t override_count;
    struct setting *overrides;
    size_t plan_count;
    struct arm_plan *plans;
    size_t arm_capacity;
};

static const char *const top_words[] = {"arms", NULL};
static const char *const arm_words[] = {"name", "sweep.key", "sweep.values", "sweep", NULL};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    assert(memory != NULL);
    return memory;
}

/* A copy that the experiment owns; the same text gives the same copy. */
static const char *intern(struct experiment *experiment, const char *text)
{
    for (size_t i = 0; i < experiment->file_count; i++)
        if (strcmp(experiment->files[i], text) == 0)
            return experiment->files[i];
    size_t count = experiment->file_count + 1;
    experiment->files = realloc(experiment->files, count * sizeof(experiment->files[0]));
    assert(experiment->files != NULL);
    char *copy = allocate(strlen(text) + 1, 1);
    memcpy(copy, text, strlen(text));
    experiment->files[experiment->file_count++] = copy;
    return copy;
}

static bool refuse(struct loader *loader, const struct yaml_node *node, const char *what)
{
    diagnostic_set(loader->diagnostic, "%s:%u:%u: %s", loader->path, node->line, node->column,
                   what);
    return false;
}

/* A name that may stand in file names and tables. */
static bool name_is_clean(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length < CONFIG_NAME_MAX && *name != '.' && *name != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
               length;
}

/* ---- nodes to settings and plans ---- */

static bool add_setting(struct loader *loader, const struct yaml_node *node, const char *key,
                        uint32_t arm)
{
    bool shared = arm == ARM_SHARED;
    struct setting_source source = {loader->path, ORIGIN_FILE, shared ? top_words : arm_words};
    const struct option *option;
    if (!setting_resolve(&source, node, key, &option, loader->diagnostic))
        return false;
    if (option == NULL)
        return true;
    if (!shared && strcmp(option->key, "title") == 0)
        return refuse(loader, node, "'title' belongs to the whole experiment: move it to the top");
    loader->settings[loader->setting_count++] = (struct setting){
        .option = option,
        .text = node->value,
        .origin = setting_origin(&source, node),
        .arm = arm,
    };
    return true;
}

static bool read_sweep_key(struct loader *loader, const struct yaml_node *node,
                           struct arm_plan *plan)
{
    struct setting_source source = {loader->path, ORIGIN_FILE, NULL};
    if (node->kind != YAML_SCALAR)
        return refuse(loader, node, "'sweep.key' takes one config key");
    plan->sweep_key = node;
    plan->sweep_option = option_find(node->value);
    if (plan->sweep_option == NULL) {
        diagnostic_set(loader->diagnostic, "%s:%u:%u: unknown key '%.128s'; nearest: '%s'",
                       loader->path, node->line, node->column, node->value,
                       option_nearest(node->value, source.also));
        return false;
    }
    const char *key = plan->sweep_option->key;
    if (strcmp(key, "name") == 0 || strcmp(key, "title") == 0 || strncmp(key, "seed", 4) == 0)
        return refuse(loader, node, "names and seeds cannot be swept");
    return true;
}

/* A node of an arm; `rest` is its key behind "arms[i]". */
static bool read_arm_node(struct loader *loader, size_t index, uint32_t arm, const char *rest)
{
    const struct yaml_node *node = &loader->file.nodes[index];
    struct arm_plan *plan = &loader->plans[arm];
    if (*rest == '\0') {
        plan->node = node;
        loader->plan_count = arm + 1u;
        return node->kind == YAML_MAPPING ||
               refuse(loader, node, "an arm is a mapping: - name: fixed-1s, then its keys");
    }
    if (strcmp(rest, ".name") == 0) {
        plan->name = node;
        return (node->kind == YAML_SCALAR && name_is_clean(node->value)) ||
               refuse(loader, node, "an arm's name is up to 63 letters, digits, '_', '-' or '.'");
    }
    if (strcmp(rest, ".sweep") == 0) {
        plan->sweep = node;
        return node->kind == YAML_MAPPING ||
               refuse(loader, node, "expected sweep: {key: <config key>, values: [...]}");
    }
    if (strcmp(rest, ".sweep.key") == 0)
        return read_sweep_key(loader, node, plan);
    if (strcmp(rest, ".sweep.values") == 0)
        return node->kind == YAML_LIST || refuse(loader, node, "'sweep.values' takes a list");
    if (strncmp(rest, KEY_SWEEP_VALUES, strlen(KEY_SWEEP_VALUES)) == 0) {
        plan->value_first = plan->value_count == 0 ? index : plan->value_first;
        plan->value_count++;
        return (node->kind == YAML_SCALAR && strlen(node->value) < CONFIG_NAME_MAX) ||
               refuse(loader, node, "a swept value is one short value");
    }
    if (strncmp(rest, ".sweep.", 7) == 0) {
        setting_unknown(&(struct setting_source){loader->path, ORIGIN_FILE, arm_words}, node,
                        rest + 1, loader->diagnostic);
        return false;
    }
    return add_setting(loader, node, rest + 1, arm);
}

static bool read_node(struct loader *loader, size_t index)
{
    const struct yaml_node *node = &loader->file.nodes[index];
    if (strcmp(node->key, "arms") == 0)
        return node->kind == YAML_LIST || refuse(loader, node, "'arms' takes a list of mappings");
    if (strncmp(node->key, "arms[", 5) != 0)
        return add_setting(loader, node, node->key, ARM_SHARED);
    uint32_t arm = 0;
    const char *at = node->key + 5;
    for (; *at != ']'; at++)
        arm = arm * 10 + (uint32_t)(*at - '0');
    assert(arm < loader->file.count);
    return read_arm_node(loader, index, arm, at + 1);
}

static bool check_plan(struct loader *loader, uint32_t arm)
{
    const struct arm_plan *plan = &loader->plans[arm];
    if (plan->name == NULL)
        return refuse(loader, plan->node, "an arm needs a name, such as - name: fixed-1s");
    if (plan->sweep == NULL) {
        return plan->sweep_key == NULL || plan->value_count > 0 ||
               refuse(loader, plan->node, "a sweep needs 'key' and 'values'");
    }
    if (plan->sweep_key == NULL || plan->value_count == 0)
        return refuse(loader, plan->sweep, "a sweep needs 'key' and 'values'");
    return true;
}

/* A swept key has no other value in its arm or on the command line: that would make all its arms
 * one. */
static bool check_sweep(struct loader *loader, uint32_t arm)
{
    const struct arm_plan *plan = &loader->plans[arm];
    for (size_t i = 0; plan->sweep_option != NULL && i < loader->setting_count; i++)
        if (loader->settings[i].arm == arm && loader->settings[i].option == plan->sweep_option)
            return refuse(loader, plan->sweep_key, "the arm sets the key that it sweeps");
    for (size_t i = 0; plan->sweep_option != NULL && i < loader->override_count; i++) {
        if (loader->overrides[i].option == plan->sweep_option) {
            diagnostic_set(loader->diagnostic, "--set %s: arm '%s' (%s:%u) sweeps this key",
                           plan->sweep_option->key, plan->name->value, loader->path,
                           plan->sweep_key->line);
            return false;
        }
    }
    return true;
}

static bool read_nodes(struct loader *loader)
{
    for (size_t i = 0; i < loader->file.count; i++)
        if (!read_node(loader, i))
            return false;
    for (uint32_t arm = 0; arm < loader->plan_count; arm++)
        if (!check_plan(loader, arm) || !check_sweep(loader, arm))
            return false;
    return true;
}

static bool read_overrides(struct loader *loader, struct overrides overrides)
{
    for (size_t i = 0; i < overrides.count; i++) {
        struct setting *setting = &loader->overrides[loader->override_count++];
        setting->origin = (struct origin){.kind = ORIGIN_SET};
        if (!option_parse_override(overrides.texts[i], &setting->option, &setting->text,
                                   loader->diagnostic))
            return false;
    }
    return true;
}

/* ---- settings to arms ---- */

static bool apply(struct loader *loader, struct config *config, const struct setting *setting)
{
    return option_set(config, setting->option, setting->text, &setting->origin, loader->diagnostic);
}

/* Applies the arm's settings, shared ones first; only of one key, or (NULL) all. */
static bool apply_all(struct loader *loader, struct config *config, uint32_t arm,
                      const struct setting *swept, const struct option *only)
{
    for (int own = 0; own <= 1; own++) {
        for (size_t i = 0; i < loader->setting_count; i++) {
            const struct setting *setting = &loader->settings[i];
            bool mine = setting->arm == (own ? arm : ARM_SHARED);
            if (mine && (only == NULL || setting->option == only) &&
                !apply(loader, config, setting))
                return false;
        }
        if (arm == ARM_SHARED)
            break;
    }
    if (swept != NULL && (only == NULL || swept->option == only) && !apply(loader, config, swept))
        return false;
    for (size_t i = 0; i < loader->override_count; i++) {
        const struct setting *setting = &loader->overrides[i];
        if ((only == NULL || setting->option == only) && !apply(loader, config, setting))
            return false;
    }
    return true;
}

static bool build_config(struct loader *loader, uint32_t arm, const struct setting *swept,
                         struct config *config)
{
    char path[CONFIG_PATH_MAX];
    config_default(config);
    return apply_all(loader, config, arm, swept, option_find("store.profile")) &&
           profile_find(config, loader->path, path, loader->diagnostic) &&
           profile_load(intern(loader->experiment, path), config, loader->diagnostic) &&
           apply_all(loader, config, arm, swept, NULL) && config_check(config, loader->diagnostic);
}

static struct arm *add_arm(struct loader *loader)
{
    struct experiment *experiment = loader->experiment;
    if (experiment->arm_count == loader->arm_capacity) {
        loader->arm_capacity = loader->arm_capacity > 0 ? 2 * loader->arm_capacity : 8;
        experiment->arms =
            realloc(experiment->arms, loader->arm_capacity * sizeof(experiment->arms[0]));
        assert(experiment->arms != NULL);
    }
    struct arm *arm = &experiment->arms[experiment->arm_count++];
    memset(arm, 0, sizeof(*arm));
    return arm;
}

static bool name_is_new(struct loader *loader, const struct yaml_node *node)
{
    const struct experiment *experiment = loader->experiment;
    const struct arm *last = &experiment->arms[experiment->arm_count - 1];
    for (size_t i = 0; i + 1 < experiment->arm_count; i++) {
        if (strcmp(experiment->arms[i].name, last->name) == 0) {
            diagnostic_set(loader->diagnostic, "%s:%u:%u: a second arm is named '%s'", loader->path,
                           node->line, node->column, last->name);
            return false;
        }
    }
    return true;
}

/* Two texts may mean one value, which would be run twice: 0.1 and 10%. */
static bool value_is_new(struct loader *loader, const struct yaml_node *node,
                         const struct option *option)
{
    const struct experiment *experiment = loader->experiment;
    const struct arm *last = &experiment->arms[experiment->arm_count - 1];
    char ours[OPTION_TEXT_MAX];
    char other[OPTION_TEXT_MAX];
    option_print(&last->config, option, ours);
    for (size_t i = 0; i + 1 < experiment->arm_count; i++) {
        const struct arm *arm = &experiment->arms[i];
        option_print(&arm->config, option, other);
        if (strcmp(arm->group, last->group) == 0 && strcmp(ours, other) == 0) {
            diagnostic_set(loader->diagnostic, "%s:%u:%u: arm '%s' has this value already",
                           loader->path, node->line, node->column, arm->name);
            return false;
        }
    }
    return true;
}

/* One arm of a plan; `value` is NULL without a sweep. */
static bool build_arm(struct loader *loader, uint32_t index, const struct yaml_node *value)
{
    const struct arm_plan *plan = &loader->plans[index];
    if (loader->experiment->arm_count == EXPERIMENT_ARMS_MAX)
        return refuse(loader, plan->node, "more than 512 arms in one experiment");
    struct arm *arm = add_arm(loader);
    snprintf(arm->group, sizeof(arm->group), "%s", plan->name->value);
    if (value == NULL) {
        snprintf(arm->name, sizeof(arm->name), "%s", plan->name->value);
        return name_is_new(loader, plan->name) && build_config(loader, index, NULL, &arm->config);
    }
    snprintf(arm->name, sizeof(arm->name), "%s/%s", plan->name->value, value->value);
    snprintf(arm->sweep_value, sizeof(arm->sweep_value), "%s", value->value);
    arm->sweep_key = plan->sweep_option->key;
    struct setting_source source = {loader->path, ORIGIN_FILE, NULL};
    struct setting swept = {plan->sweep_option, value->value, setting_origin(&source, value),
                            index};
    return name_is_new(loader, value) && build_config(loader, index, &swept, &arm->config) &&
           value_is_new(loader, value, plan->sweep_option);
}

static bool build_arms(struct loader *loader)
{
    if (loader->plan_count == 0) {
        struct arm *arm = add_arm(loader);
        if (!build_config(loader, ARM_SHARED, NULL, &arm->config))
            return false;
        snprintf(arm->name, sizeof(arm->name), "%s", config_policy_kind(&arm->config)->name);
        snprintf(arm->group, sizeof(arm->group), "%s", config_policy_kind(&arm->config)->name);
        return true;
    }
    for (uint32_t i = 0; i < loader->plan_count; i++) {
        const struct arm_plan *plan = &loader->plans[i];
        if (plan->sweep == NULL && !build_arm(loader, i, NULL))
            return false;
        for (size_t v = 0; v < plan->value_count; v++)
            if (!build_arm(loader, i, &loader->file.nodes[plan->value_first + v]))
                return false;
    }
    return true;
}

/* The file's base name without its ending, with '-' for what a name may not hold. */
static void name_from_path(const char *path, char name[CONFIG_NAME_MAX])
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    snprintf(name, CONFIG_NAME_MAX, "%s", base);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = '\0';
    for (char *at = name; *at != '\0'; at++) {
        char single[2] = {*at, '\0'};
        if (!name_is_clean(single) && (at == name || (*at != '.' && *at != '-')))
            *at = at == name ? '_' : '-';
    }
    if (*name == '\0')
        snprintf(name, CONFIG_NAME_MAX, "experiment");
}

static bool name_experiment(struct loader *loader)
{
    struct experiment *experiment = loader->experiment;
    const struct config *first = &experiment->arms[0].config;
    if (*first->name == '\0') {
        name_from_path(loader->path, experiment->name);
    } else if (name_is_clean(first->name)) {
        snprintf(experiment->name, sizeof(experiment->name), "%s", first->name);
    } else {
        char place[ORIGIN_TEXT_MAX];
        origin_print_place(&first->origins[option_index(option_find("name"))], place);
        diagnostic_set(loader->diagnostic,
                       "%s: name: '%s' must be letters, digits, '_', '-' or '.'", place,
                       first->name);
        return false;
    }
    snprintf(experiment->title, sizeof(experiment->title), "%s", first->title);
    for (size_t i = 0; i < experiment->arm_count; i++)
        memcpy(experiment->arms[i].config.name, experiment->name, sizeof(experiment->name));
    return true;
}

bool experiment_load(const char *path, struct overrides overrides, struct experiment *experiment,
                     struct diagnostic *diagnostic)
{
    *experiment = (struct experiment){0};
    struct loader loader = {.experiment = experiment, .diagnostic = diagnostic};
    loader.path = intern(experiment, path);
    bool ok = yaml_file_read(loader.path, &loader.file, diagnostic);
    if (ok) {
        loader.settings = allocate(loader.file.count, sizeof(struct setting));
        loader.plans = allocate(loader.file.count, sizeof(struct arm_plan));
        loader.overrides = allocate(overrides.count, sizeof(struct setting));
        ok = read_overrides(&loader, overrides) && read_nodes(&loader) && build_arms(&loader) &&
             name_experiment(&loader);
    }
    free(loader.settings);
    free(loader.plans);
    free(loader.overrides);
    yaml_file_deinit(&loader.file);
    if (!ok)
        experiment_deinit(experiment);
    return ok;
}

void experiment_deinit(struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->file_count; i++)
        free(experiment->files[i]);
    free(experiment->files);
    free(experiment->arms);
    *experiment = (struct experiment){0};
}
