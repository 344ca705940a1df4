/* query_differences.c - compares stored configs as text, line by line ("key  value  origin"), so
 * that those of other versions are compared as well. What most arms have is taken as meant. */
#include "experiments/results/query_differences.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX 6 /* of one arm, in words */

struct stored {
    char *experiment;
    char *mode;
    char *arm;
    char *sweep_key;
    char *config;
};

struct query_differences {
    size_t count;
    struct stored *stored;
};

static char *column_copy(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    char *made = strdup(text != NULL ? (const char *)text : "");
    assert(made != NULL);
    return made;
}

struct query_differences *query_differences_open(struct results_db *db, const char *experiment)
{
    static const char sql[] = "SELECT experiment, mode, arm, min(sweep_key), min(config) FROM"
                              " current_run WHERE ?1 IS NULL OR experiment GLOB ?1"
                              " GROUP BY experiment, mode, arm";
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(results_connection(db), sql, -1, &row, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_bind_text(row, 1, experiment, -1, SQLITE_TRANSIENT);
    struct query_differences *found = calloc(1, sizeof(*found));
    assert(found != NULL);
    int code;
    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
        found->stored = realloc(found->stored, (found->count + 1) * sizeof(*found->stored));
        assert(found->stored != NULL);
        found->stored[found->count++] =
            (struct stored){column_copy(row, 0), column_copy(row, 1), column_copy(row, 2),
                            column_copy(row, 3), column_copy(row, 4)};
    }
    sqlite3_finalize(row);
    if (code == SQLITE_DONE)
        return found;
    query_differences_close(found);
    return NULL;
}

void query_differences_close(struct query_differences *differences)
{
    for (size_t i = 0; differences != NULL && i < differences->count; i++) {
        free(differences->stored[i].experiment);
        free(differences->stored[i].mode);
        free(differences->stored[i].arm);
        free(differences->stored[i].sweep_key);
        free(differences->stored[i].config);
    }
    if (differences != NULL)
        free(differences->stored);
    free(differences);
}

/* A word of a stored config. */
struct word {
    const char *text;
    size_t length;
};

static bool word_is(struct word word, const char *text)
{
    return strlen(text) == word.length && strncmp(word.text, text, word.length) == 0;
}

static bool same_word(struct word a, struct word b)
{
    return a.length == b.length && strncmp(a.text, b.text, a.length) == 0;
}

/* The next line's key and value; *at moves on. False past the last. */
static bool next_line(const char **at, struct word *key, struct word *value)
{
    while (**at == '\n')
        (*at)++;
    if (**at == '\0')
        return false;
    *key = (struct word){*at, strcspn(*at, " \n")};
    const char *rest = *at + key->length;
    rest += strspn(rest, " ");
    *value = (struct word){rest, strcspn(rest, " \n")};
    *at += strcspn(*at, "\n");
    return true;
}

/* Whether arms are meant to be equal in this key. */
static bool is_compared(struct word key, const struct stored *stored)
{
    static const char *const others[] = {"name", "title", "seed", "seeds"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (word_is(key, others[i]))
            return false;
    bool of_policy = key.length > 7 && strncmp(key.text, "policy.", 7) == 0;
    return !of_policy && !word_is(key, stored->sweep_key);
}

static bool has(const struct stored *stored, struct word key, struct word value)
{
    struct word own_key;
    struct word own_value;
    const char *at = stored->config;
    while (next_line(&at, &own_key, &own_value))
        if (same_word(own_key, key))
            return same_word(own_value, value);
    return false;
}

/* Whether more than half of the experiment's arms have this value. */
static bool is_usual(const struct query_differences *differences, const struct stored *of,
                     struct word key, struct word value)
{
    size_t same = 0;
    size_t count = 0;
    for (size_t i = 0; i < differences->count; i++) {
        const struct stored *stored = &differences->stored[i];
        if (strcmp(stored->experiment, of->experiment) != 0 ||
            strcmp(stored->mode, of->mode) != 0 || word_is(key, stored->sweep_key))
            continue;
        count++;
        same += has(stored, key, value);
    }
    return 2 * same > count;
}

static char *describe(const struct query_differences *differences, const struct stored *stored)
{
    char *said = NULL;
    size_t size = 0;
    size_t found = 0;
    struct word key;
    struct word value;
    FILE *text = open_memstream(&said, &size);
    assert(text != NULL);
    for (const char *at = stored->config; next_line(&at, &key, &value);) {
        if (!is_compared(key, stored) || is_usual(differences, stored, key, value))
            continue;
        if (found++ < NAMED_MAX)
            fprintf(text, "%s%.*s=%.*s", found > 1 ? ", " : "", (int)key.length, key.text,
                    (int)value.length, value.text);
    }
    if (found > NAMED_MAX)
        fprintf(text, " and %zu more", found - NAMED_MAX);
    fclose(text);
    if (found > 0)
        return said;
    free(said);
    return NULL;
}

char *query_differences_of(const struct query_differences *differences, const struct query_arm *arm)
{
    for (size_t i = 0; i < differences->count; i++) {
        const struct stored *stored = &differences->stored[i];
        if (strcmp(stored->experiment, arm->experiment) == 0 &&
            strcmp(stored->mode, arm->mode) == 0 && strcmp(stored->arm, arm->arm) == 0)
            return describe(differences, stored);
    }
    return NULL;
}
