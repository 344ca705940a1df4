/* battery_keys.c - names that clients and servers like to get wrong: each must come back from a
 * listing as it was given, and be the same object by every verb. Ours. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/battery/battery_cases.h"
#include "tests/battery/battery_request.h"

#define KEYS_MAX 64
#define ODD "odd/"

/* Ends of keys that every filling holds: what a path, a query, a form or XML gives a meaning. */
static const char *const odd_keys[] = {
    "a!b", "a\"b", "a#b",           "a$b",  "a%b",  "a%20b", "a%2Fb", "a%252Fb", "a&b",  "a&amp;",
    "a'b", "a(b)", "a*b",           "a,b",  "a-b",  "a.b",   "a/b=1", "a:b",     "a;b",  "a<b>",
    "a=b", "a?b",  "a?list-type=2", "a@b",  "a[b]", "a^b",   "a_b",   "a`b",     "a{b}", "a|b",
    "a~b", "~a",   "...",           "a..b", "A",    NULL};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct key_text {
    char text[STORE_KEY_MAX];
};

static size_t collect(const char *const *ends, struct key_text *texts, size_t count)
{
    for (; ends != NULL && *ends != NULL; ends++, count++) {
        CU_ASSERT_FATAL(count < KEYS_MAX);
        snprintf(texts[count].text, sizeof(texts[count].text), ODD "%s", *ends);
    }
    return count;
}

void battery_odd_keys(const struct store_battery *battery)
{
    static struct key_text texts[KEYS_MAX];
    const char *keys[KEYS_MAX + 1];
    size_t count = collect(odd_keys, texts, 0);
    count = collect(battery->more_keys, texts, count);
    for (size_t i = 0; i < count; i++) {
        keys[i] = texts[i].text;
        battery_put(battery, STORE_PUT_IF_ABSENT, keys[i], keys[i], STORE_OK);
    }
    for (size_t i = 0; i < count; i++) {
        battery_get(battery, keys[i], keys[i]);
        battery_put(battery, STORE_PUT_IF_ABSENT, keys[i], "another", STORE_EXISTS);
    }
    qsort(keys, count, sizeof(keys[0]), compare);
    keys[count] = NULL;
    struct battery_listing listing = {
        .prefix = ODD, .after = "", .keys_max = STORE_LIST_KEYS_MAX, .expected = keys};
    battery_list(battery, &listing);
    for (size_t i = 0; i + 1 < count; i++) {
        const char *const next[] = {keys[i + 1], NULL};
        battery_list(battery, &(struct battery_listing){.prefix = ODD,
                                                        .after = keys[i],
                                                        .keys_max = 1,
                                                        .expected = next,
                                                        .truncated = i + 2 < count});
    }
    for (size_t i = 0; i < count; i++) {
        battery_simple(battery, STORE_DELETE, keys[i], STORE_OK);
        battery_simple(battery, STORE_GET, keys[i], STORE_NOT_FOUND);
    }
    listing.expected = (const char *const[]){NULL};
    battery_list(battery, &listing);
}

void battery_longest_key(const struct store_battery *battery)
{
    char key[STORE_KEY_MAX] = "longest/", shorter[STORE_KEY_MAX];
    for (size_t i = strlen(key); i + 1 < sizeof(key); i++)
        key[i] = (char)('a' + i % 26);
    memcpy(shorter, key, sizeof(key));
    shorter[sizeof(shorter) - 2] = '\0';
    battery_put(battery, STORE_PUT_IF_ABSENT, key, "longest", STORE_OK);
    battery_put(battery, STORE_PUT_IF_ABSENT, shorter, "shorter", STORE_OK);
    battery_get(battery, key, "longest");
    battery_get(battery, shorter, "shorter");
    const char *const both[] = {shorter, key, NULL};
    battery_list(battery, &(struct battery_listing){
                              .prefix = "longest/", .after = "", .keys_max = 10, .expected = both});
    battery_list(battery,
                 &(struct battery_listing){
                     .prefix = shorter, .after = shorter, .keys_max = 1, .expected = both + 1});
}

void battery_key_below_a_key(const struct store_battery *battery)
{
    static const char *const keys[] = {"nest/a", "nest/a/b", "nest/a/b/c", NULL};
    static const char *const upper[] = {"nest/a", NULL};
    struct battery_listing listing = {
        .prefix = "nest/", .after = "", .keys_max = 10, .expected = keys};
    battery_put(battery, STORE_PUT_IF_ABSENT, keys[0], "upper", STORE_OK);
    switch (battery->nesting) {
    case BATTERY_KEYS_NEST:
        battery_put(battery, STORE_PUT_IF_ABSENT, keys[2], "lowest", STORE_OK);
        battery_put(battery, STORE_PUT_IF_ABSENT, keys[1], "lower", STORE_OK);
        battery_list(battery, &listing);
        battery_get(battery, keys[1], "lower");
        battery_simple(battery, STORE_DELETE, keys[0], STORE_OK);
        battery_get(battery, keys[2], "lowest");
        listing.expected = keys + 1;
        break;
    case BATTERY_KEYS_FLAT:
        battery_put(battery, STORE_PUT_IF_ABSENT, keys[1], "lower", STORE_FAILED);
        battery_put(battery, STORE_PUT, keys[1], "lower", STORE_FAILED);
        battery_get(battery, keys[0], "upper");
        listing.expected = upper;
        break;
    }
    battery_list(battery, &listing);
}
