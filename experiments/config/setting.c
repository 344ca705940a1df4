/* setting.c - what a node of a YAML file sets, and what is wrong with it if nothing. */
#include "experiments/config/setting.h"

#include <string.h>

struct origin setting_origin(const struct setting_source *source, const struct yaml_node *node)
{
    return (struct origin){
        .kind = source->kind,
        .line = node->line,
        .column = node->column,
        .file = source->path,
    };
}

void setting_unknown(const struct setting_source *source, const struct yaml_node *node,
                     const char *key, struct diagnostic *diagnostic)
{
    diagnostic_set(diagnostic, "%s:%u:%u: unknown key '%s'; nearest: '%s'", source->path,
                   node->key_line, node->key_column, key, option_nearest(key, source->also));
}

/* The first key of the group, as an example. */
static const char *first_of_group(const char *prefix)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < option_count(); i++) {
        const char *key = option_at(i)->key;
        if (strncmp(key, prefix, length) == 0 && key[length] == '.')
            return key;
    }
    assert(false); /* a group has a key */
    return NULL;
}

bool setting_resolve(const struct setting_source *source, const struct yaml_node *node,
                     const char *key, const struct option **option, struct diagnostic *diagnostic)
{
    *option = NULL;
    if (*key == '\0')
        return true;
    const struct option *found = option_find(key);
    bool group = option_is_group(key);
    bool scalar = node->kind == YAML_SCALAR;
    if (found != NULL && scalar) {
        *option = found;
        return true;
    }
    if (group && node->kind == YAML_MAPPING)
        return true;
    if (found != NULL || (group && node->kind == YAML_LIST)) {
        diagnostic_set(diagnostic, "%s:%u:%u: '%s' takes %s, found a %s", source->path, node->line,
                       node->column, key, found != NULL ? "one value" : "keys",
                       node->kind == YAML_LIST ? "list" : "mapping");
    } else if (group) {
        diagnostic_set(diagnostic, "%s:%u:%u: '%s' is a group of keys, such as '%s', found a value",
                       source->path, node->line, node->column, key, first_of_group(key));
    } else {
        setting_unknown(source, node, key, diagnostic);
    }
    return false;
}
