/* yaml_reader.h - strict YAML as a flat list of settings, each with its place in the file.
 *
 * Nested mappings and dotted keys mean the same: {store: {get: {base: 27ms}}} is `store.get.base`.
 * Items of a list get an index: `arms[0].name`; keys in the file hold only a-z, 0-9, _, - and dots,
 * so that an index cannot be forged. Errors: duplicate keys (by either spelling), anchors, aliases,
 * tags, several documents, empty values and files, bytes that are not UTF-8 text, and more than the
 * limits below. */
#ifndef EXPERIMENTS_YAML_READER_H
#define EXPERIMENTS_YAML_READER_H

#include <stdbool.h>

#include "core/base.h"
#include "experiments/config/diagnostic.h"

#define YAML_BYTES_MAX (1 << 20)
#define YAML_NODES_MAX 4096
#define YAML_DEPTH_MAX 8 /* mappings and lists within each other */
#define YAML_KEY_MAX 128 /* bytes of a whole dotted key, with the NUL; the same for the others */
#define YAML_VALUE_MAX 2048

enum yaml_node_kind {
    YAML_SCALAR,
    YAML_MAPPING,
    YAML_LIST,
};

struct yaml_node {
    enum yaml_node_kind kind;
    char *key;     /* owned; empty for the whole file */
    char *value;   /* owned; NULL unless a scalar */
    uint32_t line; /* of the value, for a scalar; 1 is the first */
    uint32_t column;
    uint32_t key_line;
    uint32_t key_column;
};

/* Nodes in the order of the file; a mapping or list comes before what it holds. */
struct yaml_file {
    size_t count;
    size_t capacity;
    struct yaml_node *nodes;
};

/* Blocks on reading. False: nothing to free, and the diagnostic is "path:line:column: message", or
 * "path: message" where no line is to blame. */
MUST_USE bool yaml_file_read(const char *path, struct yaml_file *file,
                             struct diagnostic *diagnostic);

/* The same for bytes in memory; `path` is what messages call them. */
MUST_USE bool yaml_file_parse(const char *path, const char *bytes, size_t size,
                              struct yaml_file *file, struct diagnostic *diagnostic);

/* Also allowed on a zeroed file. */
void yaml_file_deinit(struct yaml_file *file);

#endif
