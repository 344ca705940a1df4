/* profile.c - finds and applies a store's profile. */
#include "experiments/config/profile.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "experiments/config/options.h"
#include "experiments/config/setting.h"
#include "experiments/config/yaml_reader.h"

#define FOLDERS_MAX 3
#define NAMES_MAX 32

static bool is_path(const char *text)
{
    size_t length = strlen(text);
    return strchr(text, '/') != NULL || (length > 5 && strcmp(text + length - 5, ".yaml") == 0);
}

/* Characters of the path before its last slash; 0: it has none. */
static size_t folder_chars(const char *path, size_t chars)
{
    while (chars > 0 && path[chars - 1] != '/')
        chars--;
    return chars > 0 ? chars - 1 : 0;
}

/* configs/experiments/p1.yaml -> configs/profiles. */
static void folder_beside(const char *path, char folder[CONFIG_PATH_MAX])
{
    size_t chars = folder_chars(path, strlen(path));
    size_t parent = folder_chars(path, chars);
    const char *last = path + parent + (path[parent] == '/');
    bool dots = chars == 0 || *last == '.';
    if (dots) {
        snprintf(folder, CONFIG_PATH_MAX, "%.*s%s../profiles", (int)chars, path,
                 chars > 0 || *path == '/' ? "/" : "");
    } else {
        snprintf(folder, CONFIG_PATH_MAX, "%.*s%sprofiles", (int)parent, path,
                 parent > 0 || *path == '/' ? "/" : "");
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Names of the profiles in a folder, sorted, separated by commas; empty: there are none. */
static void list_names(const char *folder, char *text, size_t size)
{
    char names[NAMES_MAX][CONFIG_NAME_MAX];
    size_t count = 0;
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    while (directory != NULL && count < NAMES_MAX && (entry = readdir(directory)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && length < CONFIG_NAME_MAX && *entry->d_name != '.' &&
            strcmp(entry->d_name + length - 5, ".yaml") == 0)
            snprintf(names[count++], CONFIG_NAME_MAX, "%.*s", (int)length - 5, entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    qsort(names, count, sizeof(names[0]), compare_names);
    *text = '\0';
    for (size_t i = 0, used = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", names[i]);
}

static bool refuse(const struct origin *origin, const char *name,
                   char folders[FOLDERS_MAX][CONFIG_PATH_MAX], struct diagnostic *diagnostic)
{
    char place[ORIGIN_TEXT_MAX];
    char names[DIAGNOSTIC_MAX / 2] = "";
    origin_print_place(origin, place);
    size_t at = 0;
    while (at < FOLDERS_MAX && *names == '\0')
        list_names(folders[at++], names, sizeof(names));
    if (*names == '\0') {
        diagnostic_set(
            diagnostic,
            "%s: store.profile: no profile '%.64s': neither %.128s, %s nor %.128s holds "
            "any; run in the project's folder, run make install, or set store.profile to a path",
            place, name, folders[0], folders[1], folders[2]);
    } else {
        diagnostic_set(diagnostic, "%s: store.profile: no profile '%.64s' in %s; it holds %s",
                       place, name, folders[at - 1], names);
    }
    return false;
}

bool profile_find(const struct config *config, const char *experiment_path,
                  char path[CONFIG_PATH_MAX], struct diagnostic *diagnostic)
{
    const char *name = config->store.profile;
    const struct origin *origin = &config->origins[option_index(option_find("store.profile"))];
    if (is_path(name)) {
        size_t chars = origin->file != NULL && *name != '/'
                           ? folder_chars(origin->file, strlen(origin->file))
                           : 0;
        int length = snprintf(path, CONFIG_PATH_MAX, "%.*s%s%s", (int)chars,
                              chars > 0 ? origin->file : "", chars > 0 ? "/" : "", name);
        if (length >= CONFIG_PATH_MAX) {
            diagnostic_set(diagnostic, "store.profile: the path is too long: %.64s...", path);
            return false;
        }
        return true;
    }
    char folders[FOLDERS_MAX][CONFIG_PATH_MAX];
    folder_beside(experiment_path, folders[0]);
    snprintf(folders[1], CONFIG_PATH_MAX, "configs/profiles");
    snprintf(folders[2], CONFIG_PATH_MAX, "%s/configs/profiles", LAKESTREAM_SHARE);
    for (size_t i = 0; i < FOLDERS_MAX; i++) {
        int chars = snprintf(path, CONFIG_PATH_MAX, "%s/%s.yaml", folders[i], name);
        if (chars < CONFIG_PATH_MAX && access(path, F_OK) == 0)
            return true;
    }
    return refuse(origin, name, folders, diagnostic);
}

static bool set_node(const struct yaml_node *node, const char *path, struct config *config,
                     struct diagnostic *diagnostic)
{
    const struct option *option = NULL;
    struct setting_source source = {path, ORIGIN_PROFILE, NULL};
    if (!setting_resolve(&source, node, node->key, &option, diagnostic))
        return false;
    if (option == NULL)
        return true;
    bool allowed =
        strcmp(option->key, "store.profile") != 0 &&
        (strncmp(option->key, "store.", 6) == 0 || strncmp(option->key, "price.", 6) == 0);
    if (!allowed) {
        diagnostic_set(diagnostic,
                       "%s:%u:%u: '%s' does not belong into a profile: only store.* and "
                       "price.* do",
                       path, node->key_line, node->key_column, node->key);
        return false;
    }
    struct origin origin = setting_origin(&source, node);
    return option_set(config, option, node->value, &origin, diagnostic);
}

bool profile_load(const char *path, struct config *config, struct diagnostic *diagnostic)
{
    struct yaml_file file;
    if (!yaml_file_read(path, &file, diagnostic))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < file.count; i++)
        ok = set_node(&file.nodes[i], path, config, diagnostic);
    yaml_file_deinit(&file);
    return ok;
}
