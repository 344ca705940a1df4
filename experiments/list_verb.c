/* list_verb.c - `lakestream list`: what there is to choose from. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/policy.h"
#include "experiments/cli.h"
#include "experiments/config/options.h"
#include "experiments/config/yaml_reader.h"
#include "experiments/figures/figure.h"
#include "experiments/verbs.h"

static void list_policies(void)
{
    printf("policies (policy.name):\n");
    const struct policy_kind *kind;
    for (size_t i = 0; (kind = policy_kind_at(i)) != NULL; i++)
        printf("  %-8s %s\n", kind->name, kind->help);
}

static int is_yaml(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/* What the file says of itself; empty: nothing. */
static void read_title(const char *folder, const char *name, char title[CONFIG_TITLE_MAX])
{
    char path[2 * CONFIG_PATH_MAX];
    struct yaml_file file;
    struct diagnostic diagnostic;
    title[0] = '\0';
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!yaml_file_read(path, &file, &diagnostic))
        return;
    for (size_t i = 0; i < file.count; i++)
        if (strcmp(file.nodes[i].key, "title") == 0 && file.nodes[i].kind == YAML_SCALAR)
            snprintf(title, CONFIG_TITLE_MAX, "%s", file.nodes[i].value);
    yaml_file_deinit(&file);
}

static void list_folder(const char *title, const char *relative)
{
    char path[CONFIG_PATH_MAX];
    struct dirent **entries = NULL;
    cli_data_path(relative, path);
    int count = scandir(path, &entries, is_yaml, alphasort);
    printf("%s (%s):\n", title, path);
    if (count < 0)
        printf("  (the folder cannot be read: run in the project's folder, or run make install "
               "there)\n");
    for (int i = 0; i < count; i++) {
        char said[CONFIG_TITLE_MAX];
        read_title(path, entries[i]->d_name, said);
        int chars = (int)strlen(entries[i]->d_name) - (int)strlen(".yaml");
        printf("  %-*.*s%s%s\n", said[0] != '\0' ? 16 : 0, chars, entries[i]->d_name,
               said[0] != '\0' ? " " : "", said);
        free(entries[i]);
    }
    free(entries);
}

static void list_profiles(void)
{
    list_folder("store profiles (store.profile)", "configs/profiles");
}

static void list_experiments(void)
{
    list_folder("experiments (lakestream sim)", "configs/experiments");
    list_folder("live runs (lakestream live)", "configs/live");
}

static void list_figures(void)
{
    printf("figures (lakestream reproduce):\n");
    const struct figure *figure;
    for (size_t i = 0; (figure = figure_at(i)) != NULL; i++)
        printf("  %-12s %s\n", figure->name, figure->title);
}

static void list_keys(void)
{
    options_print_help(stdout);
}

static const struct kind_row {
    const char *name;
    void (*print)(void);
} kinds[] = {
    {"policies", list_policies}, {"profiles", list_profiles}, {"experiments", list_experiments},
    {"figures", list_figures},   {"keys", list_keys},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

int list_main(int argc, char **argv)
{
    struct cli cli = {
        .usage = "usage: lakestream list [policies | profiles | experiments | figures | keys]\n\n"
                 "Shows what there is to choose from; without an argument all but the config keys.",
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    if (cli.operand_count == 0) {
        for (size_t i = 0; i < KIND_COUNT; i++)
            if (kinds[i].print != list_keys)
                kinds[i].print();
        printf("config keys: lakestream list keys\n");
        return CLI_DONE;
    }
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, cli.operands[0]) == 0) {
            kinds[i].print();
            return CLI_DONE;
        }
    }
    return cli_error(CLI_USAGE, "list: unknown kind '%s'; see %s list --help", cli.operands[0],
                     cli_program());
}
