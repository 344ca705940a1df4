/* options.h - one row per config key: everything that parsing, printing, checking and --help need.
 *
 * Rows for policies (`policy.name`, `policy.<kind>.<parameter>`) are generated from core's policy
 * table at first use; the table never changes afterwards and may be read by any thread. */
#ifndef EXPERIMENTS_OPTIONS_H
#define EXPERIMENTS_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "experiments/config/config.h"
#include "experiments/config/units.h"

#define OPTION_TEXT_MAX 2048 /* bytes of any printed value, with the NUL */

enum option_storage {
    OPTION_NATIVE, /* as units.h says for the kind */
    OPTION_DOUBLE, /* a policy's parameter: a double; durations in seconds, choices as an index */
};

struct option {
    const char *key; /* dotted */
    enum unit unit;
    enum option_storage storage;
    const char *text_default; /* empty: none (texts and quantiles) */
    double min;               /* inclusive, in the unit's own scale (ns, bytes, bytes/s ...) */
    double max;               /* inclusive; UNIT_TEXT: bytes of the field, with the NUL */
    const char *choices;      /* UNIT_CHOICE: names separated by '|', in the enum's order */
    /* One line. Begins with "ASSUMED: " and ends with "[<key>]" where the paper leaves it open. */
    const char *help;
    size_t offset; /* into struct config */
};

size_t option_count(void);
const struct option *option_at(size_t index);
size_t option_index(const struct option *option);

/* NULL: no such key. */
const struct option *option_find(const char *key);
/* The valid key that is most like this one, by edit distance to the whole key or to its last
 * component; "<group>.*" where a group's name is more like it. `also`: further words that would be
 * valid, NULL-terminated; or NULL. Never NULL; borrowed. */
const char *option_nearest(const char *key, const char *const *also);
/* The groups of keys, "workload.*"; NULL behind the last. */
const char *option_group_at(size_t index);
/* Whether keys of the form `prefix`.something exist. */
bool option_is_group(const char *prefix);

/* Sets one value and its origin. The origin's file is borrowed for as long as the config lives.
 * False: nothing was changed, and the diagnostic says where, which key, what was found, what is
 * expected. */
MUST_USE bool option_set(struct config *config, const struct option *option, const char *text,
                         const struct origin *origin, struct diagnostic *diagnostic);

/* Splits "key=value", as given by --set; *value points into the text. False: the diagnostic says
 * what is wrong. */
MUST_USE bool option_parse_override(const char *text, const struct option **option,
                                    const char **value, struct diagnostic *diagnostic);

/* The value as text that option_set reads back to the same value; empty where there is none. */
void option_print(const struct config *config, const struct option *option,
                  char text[OPTION_TEXT_MAX]);

/* The value as one number for tables and figures: durations in seconds, choices as their index; NAN
 * for texts and quantiles. */
double option_number(const struct config *config, const struct option *option);

/* The effective config, one line a key: key, value, origin. */
void options_print(const struct config *config, FILE *file);
/* The same as {key: {"value": text, "origin": text}}; the caller owns the reference. */
json_t *options_json(const struct config *config);
/* Every key with unit, default, range and help. */
void options_print_help(FILE *file);

#endif
