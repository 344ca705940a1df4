/* lifecycle_keys.c - a table of keys with an index in byte order. Ours. */
#include "tests/model/lifecycle_keys.h"

#include <stdio.h>
#include <string.h>

static struct key table[KEYS_MAX];
static uint32_t count;
static uint32_t order[KEYS_MAX];

uint32_t keys_count(void)
{
    return count;
}

const struct key *keys_at(uint32_t number)
{
    assert(number < count);
    return &table[number];
}

uint32_t keys_in_order(uint32_t position)
{
    assert(position < count);
    return order[position];
}

uint32_t keys_after(const char *text)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strcmp(table[order[middle]].text, text) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void parse(struct key *key)
{
    if (name_parse_version(key->text, &key->version)) {
        key->kind = KEY_VERSION;
    } else if (name_parse_floor(key->text, &key->floor)) {
        key->kind = KEY_FLOOR;
    } else if (name_parse_intent(key->text, &key->intent)) {
        key->kind = KEY_INTENT;
    } else if (name_parse_tgb(key->text, &key->tgb)) {
        key->kind = KEY_TGB;
    } else {
        bool parsed = name_parse_watermark(key->text, &key->watermark);
        assert(parsed);
        key->kind = KEY_WATERMARK;
    }
}

uint32_t keys_number(const char *text)
{
    uint32_t position = keys_after(text);
    if (position > 0 && strcmp(table[order[position - 1]].text, text) == 0)
        return order[position - 1];
    assert(count < KEYS_MAX);
    snprintf(table[count].text, STORE_KEY_MAX, "%s", text);
    parse(&table[count]);
    memmove(&order[position + 1], &order[position], (count - position) * sizeof(*order));
    order[position] = count;
    return count++;
}
