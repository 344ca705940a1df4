/* quantiles.c - reads and writes a table of quantiles: "p:factor" points with spaces between them.
 * The method is linear interpolation between measured quantiles; ours, where a lognormal fits
 * badly. */
#include "experiments/config/quantiles.h"

#include <string.h>

#include "experiments/config/units.h"

/* One "p:factor" of the given number of characters. */
static bool parse_quantile(const char *text, size_t chars, struct quantile_table *table,
                           struct diagnostic *diagnostic)
{
    char point[2 * UNIT_TEXT_MAX];
    size_t p_chars = strcspn(text, ":");
    if (chars >= sizeof(point) || p_chars >= chars) {
        diagnostic_set(diagnostic,
                       "'%.*s' is not p:factor; expected a table such as '0:0.6 0.5:1 1:4'",
                       chars < 64 ? (int)chars : 64, text);
        return false;
    }
    memcpy(point, text, chars);
    point[p_chars] = point[chars] = '\0';
    uint32_t at = table->count;
    if (at == QUANTILES_MAX) {
        diagnostic_set(diagnostic, "more than %d quantiles", QUANTILES_MAX);
        return false;
    }
    if (!unit_parse_ratio(point, &table->p[at], diagnostic) ||
        !unit_parse_number(point + p_chars + 1, &table->factor[at], diagnostic))
        return false;
    if (!(table->factor[at] > 0) || (at > 0 && table->factor[at] < table->factor[at - 1])) {
        diagnostic_set(diagnostic, "quantile factor '%s' must be above 0 and not fall",
                       point + p_chars + 1);
        return false;
    }
    if (at == 0 ? table->p[at] != 0 : !(table->p[at] > table->p[at - 1] && table->p[at] <= 1)) {
        diagnostic_set(diagnostic, "quantile '%s' is out of place: p starts at 0, rises, ends at 1",
                       point);
        return false;
    }
    table->count++;
    return true;
}

bool quantile_table_parse(const char *text, struct quantile_table *table,
                          struct diagnostic *diagnostic)
{
    struct quantile_table parsed = {0};
    const char *at = text + strspn(text, " ");
    while (*at != '\0') {
        size_t chars = strcspn(at, " ");
        if (!parse_quantile(at, chars, &parsed, diagnostic))
            return false;
        at += chars;
        at += strspn(at, " ");
    }
    if (parsed.count < 2 || parsed.p[parsed.count - 1] != 1) {
        diagnostic_set(diagnostic,
                       "'%.64s' does not end at p = 1; expected a table such as '0:0.6 0.5:1 1:4'",
                       text);
        return false;
    }
    *table = parsed;
    return true;
}

void quantile_table_print(const struct quantile_table *table, char text[QUANTILES_TEXT_MAX])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < table->count; i++) {
        char p[UNIT_TEXT_MAX];
        char factor[UNIT_TEXT_MAX];
        unit_print_number(table->p[i], p);
        unit_print_number(table->factor[i], factor);
        int chars = snprintf(text + used, QUANTILES_TEXT_MAX - used, "%s%s:%s", i > 0 ? " " : "", p,
                             factor);
        used += (size_t)chars;
        assert(used < QUANTILES_TEXT_MAX);
    }
}
