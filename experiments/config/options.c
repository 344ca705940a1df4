/* options.c - what is generic over the rows of the options table: find, suggest, set, print. */
#include "experiments/config/options.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/mesh.h"

#define KEY_CHARS_MAX 128 /* longer texts are compared by their start */

const struct option *option_find(const char *key)
{
    for (size_t i = 0; i < option_count(); i++)
        if (strcmp(option_at(i)->key, key) == 0)
            return option_at(i);
    return NULL;
}

bool option_is_group(const char *prefix)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < option_count(); i++) {
        const char *key = option_at(i)->key;
        if (strncmp(key, prefix, length) == 0 && key[length] == '.')
            return true;
    }
    return false;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance; two neighbouring characters that were swapped count once. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][KEY_CHARS_MAX + 1];
    size_t a_chars = least(strlen(a), KEY_CHARS_MAX);
    size_t b_chars = least(strlen(b), KEY_CHARS_MAX);
    for (size_t j = 0; j <= b_chars; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_chars; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_chars; j++) {
            size_t best = least(before[j], now[j - 1]) + 1;
            best = least(best, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, rows[(i + 1) % 3][j - 2] + 1);
            now[j] = best;
        }
    }
    return rows[a_chars % 3][b_chars];
}

static const char *last_component(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot != NULL ? dot + 1 : key;
}

/* Characters that two keys begin with. */
static size_t common_start(const char *a, const char *b)
{
    size_t count = 0;
    while (a[count] != '\0' && a[count] == b[count])
        count++;
    return count;
}

/* Distance to the whole key, less where the last components begin alike; or, slightly dearer,
 * between the last components. A key that was not typed to its end is near whatever is missing. */
static long unlikeness(const char *key, const char *valid)
{
    const char *last = last_component(key);
    const char *valid_last = last_component(valid);
    bool same_group = (size_t)(last - key) == (size_t)(valid_last - valid) &&
                      strncmp(key, valid, (size_t)(last - key)) == 0;
    long whole = 4 * (long)edit_distance(key, valid);
    if (same_group)
        whole -= 2 * (long)common_start(last, valid_last);
    if (strncmp(key, valid, strlen(key)) == 0 && whole > 2)
        whole = 2;
    long part = 4 * (long)edit_distance(last, valid_last) + 2;
    part += last == key || same_group ? 0 : 1;
    return whole < part ? whole : part;
}

/* Keys have no capitals. */
static void lower(const char *text, char lowered[KEY_CHARS_MAX + 1])
{
    size_t length = 0;
    for (; text[length] != '\0' && length < KEY_CHARS_MAX; length++)
        lowered[length] = (char)tolower((unsigned char)text[length]);
    lowered[length] = '\0';
}

const char *option_nearest(const char *key, const char *const *also)
{
    char lowered[KEY_CHARS_MAX + 1];
    const char *best = option_at(0)->key;
    long least_unlike = LONG_MAX;
    lower(key, lowered);
    for (size_t i = 0; i < option_count(); i++) {
        long unlike = unlikeness(lowered, option_at(i)->key);
        if (unlike < least_unlike) {
            least_unlike = unlike;
            best = option_at(i)->key;
        }
    }
    const char *group;
    for (size_t i = 0; (group = option_group_at(i)) != NULL; i++) {
        char name[KEY_CHARS_MAX];
        snprintf(name, sizeof(name), "%.*s", (int)strlen(group) - 2, group);
        long unlike = 4 * (long)edit_distance(lowered, name);
        if (unlike < least_unlike) {
            least_unlike = unlike;
            best = group;
        }
    }
    for (; also != NULL && *also != NULL; also++) {
        long unlike = 4 * (long)edit_distance(lowered, *also);
        if (unlike < least_unlike) {
            least_unlike = unlike;
            best = *also;
        }
    }
    return best;
}

/* ---- values ---- */

/* A parsed value of any kind. */
struct value {
    double number; /* the value in the unit's own scale; what bounds are compared with */
    int64_t duration_ns;
    uint64_t whole; /* sizes and counts */
    uint32_t choice;
    struct quantile_table quantiles;
    struct tgb_mesh mesh;
};

static void *field_of(struct config *config, const struct option *option)
{
    return (char *)config + option->offset;
}

static const void *field_at(const struct config *config, const struct option *option)
{
    return (const char *)config + option->offset;
}

/* The rest after the value's own syntax: the text of a UNIT_TEXT. */
static bool check_text(const struct option *option, const char *text, struct diagnostic *diagnostic)
{
    if (strlen(text) >= (size_t)option->max) {
        diagnostic_set(diagnostic, "'%.32s...' is longer than %d bytes", text,
                       (int)option->max - 1);
        return false;
    }
    return true;
}

static bool parse_value(const struct option *option, const char *text, struct value *value,
                        struct diagnostic *diagnostic)
{
    bool ok = false;
    switch (option->unit) {
    case UNIT_DURATION:
        ok = unit_parse_duration(text, &value->duration_ns, diagnostic);
        value->number = (double)value->duration_ns;
        break;
    case UNIT_BYTES:
        ok = unit_parse_bytes(text, &value->whole, diagnostic);
        value->number = (double)value->whole;
        break;
    case UNIT_COUNT:
        ok = unit_parse_count(text, &value->whole, diagnostic);
        value->number = (double)value->whole;
        break;
    case UNIT_RATE:
        ok = unit_parse_rate(text, &value->number, diagnostic);
        break;
    case UNIT_RATIO:
        ok = unit_parse_ratio(text, &value->number, diagnostic);
        break;
    case UNIT_NUMBER:
        ok = unit_parse_number(text, &value->number, diagnostic);
        break;
    case UNIT_CHOICE:
        ok = unit_parse_choice(text, option->choices, &value->choice, diagnostic);
        value->number = value->choice;
        break;
    case UNIT_TEXT:
        ok = check_text(option, text, diagnostic);
        break;
    case UNIT_QUANTILES:
        ok = quantile_table_parse(text, &value->quantiles, diagnostic);
        break;
    case UNIT_MESH:
        ok = mesh_parse(text, &value->mesh, diagnostic);
        break;
    }
    return ok;
}

/* A bound as a person would write it. */
static void print_bound(const struct option *option, double bound, char text[UNIT_TEXT_MAX])
{
    if (option->unit == UNIT_DURATION)
        unit_print_duration((int64_t)(bound + 0.5), text);
    else if (option->unit == UNIT_BYTES)
        unit_print_bytes((uint64_t)bound, text);
    else if (option->unit == UNIT_RATE)
        unit_print_rate(bound, text);
    else if (option->unit == UNIT_COUNT)
        unit_print_count((uint64_t)bound, text);
    else
        unit_print_number(bound, text);
}

static bool has_range(const struct option *option)
{
    return option->unit != UNIT_CHOICE && option->unit != UNIT_TEXT &&
           option->unit != UNIT_QUANTILES && option->unit != UNIT_MESH;
}

static bool check_range(const struct option *option, const char *text, double number,
                        struct diagnostic *diagnostic)
{
    if (!has_range(option) || (number >= option->min && number <= option->max))
        return true;
    char low[UNIT_TEXT_MAX];
    char high[UNIT_TEXT_MAX];
    print_bound(option, option->min, low);
    print_bound(option, option->max, high);
    diagnostic_set(diagnostic, "'%.64s' is out of range; expected %s to %s", text, low, high);
    return false;
}

static void store_double(void *field, const struct option *option, const struct value *value)
{
    double number =
        option->unit == UNIT_DURATION ? (double)value->duration_ns / 1e9 : value->number;
    memcpy(field, &number, sizeof(number));
}

static void store_value(struct config *config, const struct option *option, const char *text,
                        const struct value *value)
{
    void *field = field_of(config, option);
    if (option->storage == OPTION_DOUBLE) {
        store_double(field, option, value);
        return;
    }
    switch (option->unit) {
    case UNIT_DURATION:
        memcpy(field, &value->duration_ns, sizeof(value->duration_ns));
        break;
    case UNIT_BYTES:
    case UNIT_COUNT:
        memcpy(field, &value->whole, sizeof(value->whole));
        break;
    case UNIT_RATE:
    case UNIT_RATIO:
    case UNIT_NUMBER:
        memcpy(field, &value->number, sizeof(value->number));
        break;
    case UNIT_CHOICE:
        memcpy(field, &value->choice, sizeof(value->choice));
        break;
    case UNIT_TEXT:
        memset(field, 0, (size_t)option->max);
        memcpy(field, text, strlen(text));
        break;
    case UNIT_QUANTILES:
        memcpy(field, &value->quantiles, sizeof(value->quantiles));
        break;
    case UNIT_MESH:
        memcpy(field, &value->mesh, sizeof(value->mesh));
        break;
    }
}

static bool has_control_character(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

bool option_set(struct config *config, const struct option *option, const char *text,
                const struct origin *origin, struct diagnostic *diagnostic)
{
    struct value value = {0};
    struct diagnostic problem = {{0}};
    bool ok = false;
    if (*text == '\0' && origin->kind == ORIGIN_DEFAULT) {
        ok = true; /* no value: an empty text or table */
    } else if (*text == '\0') {
        diagnostic_set(&problem, "needs a value");
    } else if (has_control_character(text)) {
        diagnostic_set(&problem, "the value holds a line break or control character");
    } else {
        ok = parse_value(option, text, &value, &problem) &&
             check_range(option, text, value.number, &problem);
    }
    if (!ok) {
        char place[ORIGIN_TEXT_MAX];
        origin_print_place(origin, place);
        diagnostic_set(diagnostic, "%s: %s: %s", place, option->key, problem.text);
        return false;
    }
    store_value(config, option, text, &value);
    config->origins[option_index(option)] = *origin;
    return true;
}

/* The stored value back into the form that parsing gave. */
static void load_value(const struct config *config, const struct option *option,
                       struct value *value)
{
    const void *field = field_at(config, option);
    if (option->storage == OPTION_DOUBLE) {
        memcpy(&value->number, field, sizeof(value->number));
        value->choice = option->unit == UNIT_CHOICE ? (uint32_t)value->number : 0;
        value->whole = option->unit == UNIT_COUNT ? (uint64_t)value->number : 0;
        value->duration_ns = option->unit == UNIT_DURATION ? llround(value->number * 1e9) : 0;
    } else if (option->unit == UNIT_DURATION) {
        memcpy(&value->duration_ns, field, sizeof(value->duration_ns));
        value->number = (double)value->duration_ns / 1e9;
    } else if (option->unit == UNIT_BYTES || option->unit == UNIT_COUNT) {
        memcpy(&value->whole, field, sizeof(value->whole));
        value->number = (double)value->whole;
    } else if (option->unit == UNIT_CHOICE) {
        memcpy(&value->choice, field, sizeof(value->choice));
        value->number = value->choice;
    } else if (option->unit == UNIT_QUANTILES) {
        memcpy(&value->quantiles, field, sizeof(value->quantiles));
        value->number = (double)NAN;
    } else if (option->unit == UNIT_MESH) {
        memcpy(&value->mesh, field, sizeof(value->mesh));
        value->number = tgb_mesh_slices(value->mesh);
    } else if (option->unit == UNIT_TEXT) {
        value->number = (double)NAN;
    } else {
        memcpy(&value->number, field, sizeof(value->number));
    }
}

double option_number(const struct config *config, const struct option *option)
{
    struct value value = {0};
    load_value(config, option, &value);
    return value.number;
}

bool option_parse_override(const char *text, const struct option **option, const char **value,
                           struct diagnostic *diagnostic)
{
    const char *equals = strchr(text, '=');
    char key[KEY_CHARS_MAX];
    if (equals == NULL || equals == text) {
        diagnostic_set(diagnostic,
                       "--set '%.64s': expected key=value, such as workload.producers=16", text);
        return false;
    }
    snprintf(key, sizeof(key), "%.*s", (int)(equals - text), text);
    *option = option_find(key);
    *value = equals + 1;
    if (*option == NULL)
        diagnostic_set(diagnostic, "--set: unknown key '%s'; nearest: '%s'", key,
                       option_nearest(key, NULL));
    return *option != NULL;
}

void option_print(const struct config *config, const struct option *option,
                  char text[OPTION_TEXT_MAX])
{
    struct value value = {0};
    load_value(config, option, &value);
    switch (option->unit) {
    case UNIT_DURATION:
        unit_print_duration(value.duration_ns, text);
        break;
    case UNIT_BYTES:
        unit_print_bytes(value.whole, text);
        break;
    case UNIT_COUNT:
        unit_print_count(value.whole, text);
        break;
    case UNIT_RATE:
        unit_print_rate(value.number, text);
        break;
    case UNIT_RATIO:
    case UNIT_NUMBER:
        unit_print_number(value.number, text);
        break;
    case UNIT_CHOICE:
        unit_print_choice(value.choice, option->choices, text);
        break;
    case UNIT_TEXT:
        snprintf(text, OPTION_TEXT_MAX, "%s", (const char *)field_at(config, option));
        break;
    case UNIT_QUANTILES:
        quantile_table_print(&value.quantiles, text);
        break;
    case UNIT_MESH:
        mesh_print(value.mesh, text);
        break;
    }
}

/* ---- for people ---- */

void options_print(const struct config *config, FILE *file)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_at(i);
        char text[OPTION_TEXT_MAX];
        char origin[ORIGIN_TEXT_MAX];
        option_print(config, option, text);
        origin_print(&config->origins[i], origin);
        fprintf(file, "%-26s %-16s %s\n", option->key, *text != '\0' ? text : "-", origin);
    }
}

json_t *options_json(const struct config *config)
{
    json_t *object = json_object();
    assert(object != NULL);
    for (size_t i = 0; i < option_count(); i++) {
        char text[OPTION_TEXT_MAX];
        char origin[ORIGIN_TEXT_MAX];
        option_print(config, option_at(i), text);
        origin_print(&config->origins[i], origin);
        json_t *entry = json_pack("{s:s, s:s}", "value", text, "origin", origin);
        int failed = json_object_set_new(object, option_at(i)->key, entry);
        assert(!failed);
    }
    return object;
}

static void print_range(const struct option *option, FILE *file)
{
    if (option->choices != NULL) {
        fprintf(file, "one of %s", option->choices);
    } else if (option->unit == UNIT_TEXT) {
        fprintf(file, "text");
    } else if (option->unit == UNIT_QUANTILES) {
        fprintf(file, "p:factor points");
    } else if (option->unit == UNIT_MESH) {
        fprintf(file, "none, or such as 8x2");
    } else {
        char low[UNIT_TEXT_MAX];
        char high[UNIT_TEXT_MAX];
        print_bound(option, option->min, low);
        print_bound(option, option->max, high);
        fprintf(file, "%s to %s", low, high);
    }
}

void options_print_help(FILE *file)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_at(i);
        fprintf(file, "%s: ", option->key);
        print_range(option, file);
        if (*option->text_default != '\0')
            fprintf(file, " (default %s)", option->text_default);
        fprintf(file, "\n    %s\n", option->help);
    }
}
