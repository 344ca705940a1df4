/* Units and quantiles: what is accepted, how it prints, and the whole message for what is refused.
 */
#include <math.h>

#include "experiments/config/mesh.h"
#include "experiments/config/options.h"
#include "tests/experiments/expect.h"

#define NOT_A_MESH(text)                                                                           \
    "'" text "' is not a mesh; expected none, or data-parallel x context-parallel ranks such as "  \
    "8x2, at most 65536 together"

/* Parses by unit, prints what was read; on an error the diagnostic. */
static void read_and_print(enum unit unit, const char *text, char out[DIAGNOSTIC_MAX])
{
    struct diagnostic diagnostic = {{0}};
    char printed[QUANTILES_TEXT_MAX] = "";
    int64_t ns = 0;
    uint64_t whole = 0;
    double number = 0;
    uint32_t choice = 0;
    struct quantile_table table = {0};
    struct tgb_mesh mesh = {0};
    bool ok = false;
    switch (unit) {
    case UNIT_DURATION:
        if ((ok = unit_parse_duration(text, &ns, &diagnostic)))
            unit_print_duration(ns, printed);
        break;
    case UNIT_BYTES:
        if ((ok = unit_parse_bytes(text, &whole, &diagnostic)))
            unit_print_bytes(whole, printed);
        break;
    case UNIT_RATE:
        if ((ok = unit_parse_rate(text, &number, &diagnostic)))
            unit_print_rate(number, printed);
        break;
    case UNIT_COUNT:
        if ((ok = unit_parse_count(text, &whole, &diagnostic)))
            unit_print_count(whole, printed);
        break;
    case UNIT_RATIO:
        if ((ok = unit_parse_ratio(text, &number, &diagnostic)))
            unit_print_number(number, printed);
        break;
    case UNIT_NUMBER:
        if ((ok = unit_parse_number(text, &number, &diagnostic)))
            unit_print_number(number, printed);
        break;
    case UNIT_CHOICE:
        if ((ok = unit_parse_choice(text, "list|probe", &choice, &diagnostic)))
            unit_print_choice(choice, "list|probe", printed);
        break;
    case UNIT_QUANTILES:
        if ((ok = quantile_table_parse(text, &table, &diagnostic)))
            quantile_table_print(&table, printed);
        break;
    case UNIT_MESH:
        if ((ok = mesh_parse(text, &mesh, &diagnostic)))
            mesh_print(mesh, printed);
        break;
    case UNIT_TEXT:
        break;
    }
    snprintf(out, DIAGNOSTIC_MAX, "%.*s", DIAGNOSTIC_MAX - 1, ok ? printed : diagnostic.text);
}

struct row {
    enum unit unit;
    const char *text;
    const char *expected;
};

static const struct row accepted[] = {
    {UNIT_DURATION, "250ms", "250ms"},
    {UNIT_DURATION, "10s", "10s"},
    {UNIT_DURATION, "1.5h", "90min"},
    {UNIT_DURATION, "600s", "10min"},
    {UNIT_DURATION, "0.1s", "100ms"},
    {UNIT_DURATION, "0h", "0s"},
    {UNIT_DURATION, "1ns", "1ns"},
    {UNIT_DURATION, "2.000000001s", "2000000001ns"},
    {UNIT_DURATION, "0.5us", "500ns"},
    {UNIT_BYTES, "4MiB", "4MiB"},
    {UNIT_BYTES, "13.5MB", "13.5MB"},
    {UNIT_BYTES, "64B", "64B"},
    {UNIT_BYTES, "0.5KiB", "512B"},
    {UNIT_BYTES, "0MB", "0B"},
    {UNIT_BYTES, "33554432B", "32MiB"},
    {UNIT_RATE, "432MB/s", "432MB/s"},
    {UNIT_RATE, "13.5MB/s", "13.5MB/s"},
    {UNIT_RATE, "50MiB/s", "50MiB/s"},
    {UNIT_RATE, "0B/s", "0B/s"},
    {UNIT_RATE, "12500MB/s", "12.5GB/s"},
    {UNIT_RATE, "0.000000001234567890123456B/s", "0.000000001234567890123456B/s"},
    {UNIT_RATE, "1000000TB/s", "1000000TB/s"},
    {UNIT_COUNT, "0", "0"},
    {UNIT_COUNT, "9007199254740991", "9007199254740991"},
    {UNIT_RATIO, "3.7%", "0.037"},
    {UNIT_RATIO, "0.037", "0.037"},
    {UNIT_RATIO, "1e-5", "1e-05"},
    {UNIT_NUMBER, "3500", "3500"},
    {UNIT_NUMBER, "-0.0", "0"},
    {UNIT_NUMBER, "1E+2", "100"},
    {UNIT_CHOICE, "probe", "probe"},
    {UNIT_QUANTILES, "0:0.6 0.5:1 1:4", "0:0.6 0.5:1 1:4"},
    {UNIT_QUANTILES, " 0%:1  100%:1 ", "0:1 1:1"},
    {UNIT_MESH, "none", "none"},
    {UNIT_MESH, "8x2", "8x2"},
    {UNIT_MESH, "1x1", "1x1"},
    {UNIT_MESH, "256x256", "256x256"},
};

static const struct row refused[] = {
    {UNIT_DURATION, "", "the value is empty; expected a duration such as 10s, 250ms, 5min"},
    {UNIT_DURATION, "10", "'10' needs a unit: 10s, 250ms, 5min"},
    {UNIT_DURATION, "10sec",
     "'10sec' has the unit 'sec'; expected one of ns, us, ms, s, min, h, "
     "such as 10s, 250ms, 5min"},
    {UNIT_DURATION, "-5s", "'-5s' is negative; expected a duration such as 10s, 250ms, 5min"},
    {UNIT_DURATION, "0.5ns",
     "'0.5ns' is finer than 1ns; expected a duration such as 10s, 250ms, "
     "5min"},
    {UNIT_DURATION, "9999999h",
     "'9999999h' is too large; expected a duration such as 10s, 250ms, "
     "5min"},
    {UNIT_DURATION, "99999999999999999999999999999s",
     "'99999999999999999999999999999s' has too many digits; expected a duration such as 10s, "
     "250ms, "
     "5min"},
    {UNIT_DURATION, "s", "'s' is not a duration; expected one such as 10s, 250ms, 5min"},
    {UNIT_DURATION, "10 s",
     "'10 s' has the unit ' s'; expected one of ns, us, ms, s, min, h, such "
     "as 10s, 250ms, 5min"},
    {UNIT_DURATION, "010s",
     "'010s' is octal-looking: write it without the leading zero; expected a "
     "duration such as 10s, 250ms, 5min"},
    {UNIT_DURATION, "inf", "'inf' is not finite; expected a duration such as 10s, 250ms, 5min"},
    {UNIT_BYTES, "4", "'4' needs a unit: 64B, 4MiB, 13.5MB"},
    {UNIT_BYTES, "4KB",
     "'4KB' has the unit 'KB'; expected one of B, kB, MB, GB, TB, KiB, MiB, GiB, "
     "TiB, such as 64B, 4MiB, 13.5MB"},
    {UNIT_BYTES, "0.3B",
     "'0.3B' is not a whole number of bytes; expected a size such as 64B, 4MiB, "
     "13.5MB"},
    {UNIT_RATE, "432MB",
     "'432MB' has the unit 'MB'; expected one of B/s, kB/s, MB/s, GB/s, TB/s, "
     "KiB/s, MiB/s, GiB/s, TiB/s, such as 13.5MB/s, 50MiB/s"},
    {UNIT_RATE, "432", "'432' needs a unit: 13.5MB/s, 50MiB/s"},
    {UNIT_RATE, "1000001TB/s",
     "'1000001TB/s' is too large or too small; expected a rate such as 13.5MB/s, 50MiB/s"},
    {UNIT_RATE, "0.0000000009B/s",
     "'0.0000000009B/s' is too large or too small; expected a rate such as 13.5MB/s, 50MiB/s"},
    {UNIT_RATE, "-1B/s", "'-1B/s' is negative; expected a rate such as 13.5MB/s, 50MiB/s"},
    {UNIT_COUNT, "010",
     "'010' is octal-looking: write it without the leading zero; expected a "
     "whole number such as 32"},
    {UNIT_COUNT, "0x10",
     "'0x10' is octal-looking or hexadecimal: write it in decimal; expected a "
     "whole number such as 32"},
    {UNIT_COUNT, "0o17",
     "'0o17' is octal-looking or hexadecimal: write it in decimal; expected a "
     "whole number such as 32"},
    {UNIT_COUNT, "12.5",
     "'12.5' is not a whole number without a unit; expected a whole number such "
     "as 32"},
    {UNIT_COUNT, "1e3",
     "'1e3' is not a whole number without a unit; expected a whole number such "
     "as 32"},
    {UNIT_COUNT, "-1", "'-1' is negative; expected a whole number such as 32"},
    {UNIT_COUNT, "9007199254740992",
     "'9007199254740992' is too large; expected a whole number such "
     "as 32"},
    {UNIT_COUNT, "+1", "'+1' is not a whole number; expected one such as 32"},
    {UNIT_RATIO, "nan", "'nan' is not finite; expected a ratio such as 0.037, 3.7%"},
    {UNIT_RATIO, "3.7%%",
     "'3.7%%' is not a ratio: '%%' is left over; expected one such as 0.037, "
     "3.7%"},
    {UNIT_NUMBER, ".inf", "'.inf' is not finite; expected a number such as 0.5, 40"},
    {UNIT_NUMBER, "1e999",
     "'1e999' is too large, too small or has too many digits; expected a "
     "number such as 0.5, 40"},
    {UNIT_NUMBER, "5%", "'5%' is not a number: '%' is left over; expected one such as 0.5, 40"},
    {UNIT_NUMBER, ".5", "'.5' is not a number; expected one such as 0.5, 40"},
    {UNIT_NUMBER, "1,5", "'1,5' is not a number: ',5' is left over; expected one such as 0.5, 40"},
    {UNIT_CHOICE, "lst", "'lst' is not a choice; expected one of list|probe"},
    {UNIT_CHOICE, "list|probe", "'list|probe' is not a choice; expected one of list|probe"},
    {UNIT_QUANTILES, "0:1 0.5:2",
     "'0:1 0.5:2' does not end at p = 1; expected a table such as '0:0.6 0.5:1 1:4'"},
    {UNIT_QUANTILES, "0:1 0.5",
     "'0.5' is not p:factor; expected a table such as '0:0.6 0.5:1 1:4'"},
    {UNIT_QUANTILES, "0.1:1 1:2",
     "quantile '0.1' is out of place: p starts at 0, rises, ends at 1"},
    {UNIT_MESH, "8", NOT_A_MESH("8")},
    {UNIT_MESH, "8x", NOT_A_MESH("8x")},
    {UNIT_MESH, "x8", NOT_A_MESH("x8")},
    {UNIT_MESH, "0x0", NOT_A_MESH("0x0")},
    {UNIT_MESH, "8x0", NOT_A_MESH("8x0")},
    {UNIT_MESH, "8X2", NOT_A_MESH("8X2")},
    {UNIT_MESH, "8x2x1", NOT_A_MESH("8x2x1")},
    {UNIT_MESH, "-8x-2", NOT_A_MESH("-8x-2")},
    {UNIT_MESH, "256x257", NOT_A_MESH("256x257")},
    {UNIT_MESH, "4294967296x1", NOT_A_MESH("4294967296x1")},
    {UNIT_QUANTILES, "0:2 1:1", "quantile factor '1' must be above 0 and not fall"},
};

static void values_print_as_people_write_them(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(accepted); i++) {
        char out[DIAGNOSTIC_MAX];
        read_and_print(accepted[i].unit, accepted[i].text, out);
        expect_text(accepted[i].text, out, accepted[i].expected);
        read_and_print(accepted[i].unit, accepted[i].expected, out);
        expect_text(accepted[i].expected, out, accepted[i].expected);
    }
}

static void bad_values_say_what_is_expected(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        char out[DIAGNOSTIC_MAX];
        read_and_print(refused[i].unit, refused[i].text, out);
        expect_text(refused[i].text, out, refused[i].expected);
    }
}

static void printing_round_trips_exactly(void)
{
    struct random_stream random = random_stream_make(7, 0);
    struct diagnostic diagnostic;
    for (int i = 0; i < 5000; i++) {
        char text[UNIT_TEXT_MAX];
        uint64_t bits = random_next(&random) >> (1 + random_next(&random) % 62);
        int64_t ns = 0;
        uint64_t bytes = 0;
        unit_print_duration((int64_t)bits, text);
        CU_ASSERT(unit_parse_duration(text, &ns, &diagnostic) && ns == (int64_t)bits);
        unit_print_bytes(bits, text);
        CU_ASSERT(unit_parse_bytes(text, &bytes, &diagnostic) && bytes == bits);
        double rate = 1 + random_unit(&random) * pow(10, (double)(random_next(&random) % 15));
        double number =
            (random_unit(&random) - 0.5) * pow(10, (double)(random_next(&random) % 40) - 20);
        double back = 0;
        unit_print_rate(rate, text);
        CU_ASSERT(unit_parse_rate(text, &back, &diagnostic) && back == rate);
        unit_print_number(number, text);
        CU_ASSERT(unit_parse_number(text, &back, &diagnostic) && back == number);
    }
}

const struct harness_test units_tests[] = {
    HARNESS_TEST(values_print_as_people_write_them),
    HARNESS_TEST(bad_values_say_what_is_expected),
    HARNESS_TEST(printing_round_trips_exactly),
    {0},
};
