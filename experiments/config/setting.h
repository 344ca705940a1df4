/* setting.h - from a node of a YAML file to a row of the options table. */
#ifndef EXPERIMENTS_SETTING_H
#define EXPERIMENTS_SETTING_H

#include <stdbool.h>

#include "experiments/config/options.h"
#include "experiments/config/yaml_reader.h"

/* Where nodes come from. All borrowed. */
struct setting_source {
    const char *path;
    enum origin_kind kind;
    /* Words that are valid here beside config keys, for suggestions; or NULL. */
    const char *const *also;
};

struct origin setting_origin(const struct setting_source *source, const struct yaml_node *node);

/* The row that a scalar node with this config key sets; NULL for a mapping that groups keys. False:
 * an unknown key, a list or mapping where one value is expected, or a value where a group is. */
MUST_USE bool setting_resolve(const struct setting_source *source, const struct yaml_node *node,
                              const char *key, const struct option **option,
                              struct diagnostic *diagnostic);

/* "file:line:column: unknown key 'x'; nearest: 'y'". */
void setting_unknown(const struct setting_source *source, const struct yaml_node *node,
                     const char *key, struct diagnostic *diagnostic);

#endif
