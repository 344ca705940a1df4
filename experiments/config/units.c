/* units.c - values with units: exact decimal arithmetic for durations and sizes, strtod on checked
 * characters for the rest. Method: ours; fio's options have the same idea with laxer parsing. */
#include "experiments/config/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define DIGITS_MAX 25        /* of a mantissa: 1e25 times the largest factor fits into `wide` */
#define PRINTED_DECIMALS 3   /* digits behind the point that printing tries */
#define NUMBER_CHARS_MAX 128 /* longer texts are no numbers */
#define RATE_MIN 1e-9        /* bytes/s, but for 0: between these, any rate can be printed */
#define RATE_MAX 1e18
#define RATE_DECIMALS_MAX 27 /* 17 digits of the smallest rate */

struct factor {
    const char *name;
    uint64_t scale;  /* in the base unit */
    int decimal_exp; /* scale = 10^decimal_exp; -1: a power of two */
};

static const struct factor duration_factors[] = {
    {"h", 3600 * UINT64_C(1000000000), -1},
    {"min", 60 * UINT64_C(1000000000), -1},
    {"s", 1000000000, 9},
    {"ms", 1000000, 6},
    {"us", 1000, 3},
    {"ns", 1, 0},
};

static const struct factor byte_factors[] = {
    {"TiB", UINT64_C(1) << 40, -1},
    {"TB", UINT64_C(1000000000000), 12},
    {"GiB", UINT64_C(1) << 30, -1},
    {"GB", 1000000000, 9},
    {"MiB", UINT64_C(1) << 20, -1},
    {"MB", 1000000, 6},
    {"KiB", UINT64_C(1) << 10, -1},
    {"kB", 1000, 3},
    {"B", 1, 0},
};

/* What a value is called in messages, with examples and units. */
struct form {
    const char *noun;
    const char *examples;
    const char *units;
    const char *suffix; /* behind every unit */
    const struct factor *factors;
    size_t factor_count;
};

#define FACTORS(array) (array), sizeof(array) / sizeof((array)[0])

static const struct form duration_form = {"a duration", "10s, 250ms, 5min", "ns, us, ms, s, min, h",
                                          "", FACTORS(duration_factors)};
static const struct form bytes_form = {"a size", "64B, 4MiB, 13.5MB",
                                       "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB", "",
                                       FACTORS(byte_factors)};
static const struct form rate_form = {"a rate", "13.5MB/s, 50MiB/s",
                                      "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s",
                                      "/s", FACTORS(byte_factors)};
static const struct form count_form = {"a whole number", "32", NULL, NULL, NULL, 0};
static const struct form ratio_form = {"a ratio", "0.037, 3.7%", NULL, NULL, NULL, 0};
static const struct form number_form = {"a number", "0.5, 40", NULL, NULL, NULL, 0};

/* digits[.digits], as found at the start of a text. */
struct mantissa {
    bool negative;
    size_t chars;    /* with the sign */
    wide digits;     /* without the point; valid if digit_count <= DIGITS_MAX */
    int digit_count; /* without leading zeros */
    int decimals;    /* digits behind the point */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool same_ignoring_case(const char *text, const char *lower)
{
    size_t i = 0;
    for (; text[i] != '\0' && lower[i] != '\0'; i++)
        if ((text[i] | 0x20) != lower[i])
            return false;
    return text[i] == lower[i];
}

static bool is_not_finite(const char *text)
{
    const char *rest = text + (*text == '-' || *text == '+' || *text == '.');
    return same_ignoring_case(rest, "nan") || same_ignoring_case(rest, "inf") ||
           same_ignoring_case(rest, "infinity");
}

static bool refuse(struct diagnostic *diagnostic, const struct form *form, const char *text,
                   const char *why)
{
    diagnostic_set(diagnostic, "'%.64s' %s; expected %s such as %s", text, why, form->noun,
                   form->examples);
    return false;
}

/* Adds one digit; beyond DIGITS_MAX only their number is kept. */
static void mantissa_add(struct mantissa *mantissa, char digit)
{
    if (mantissa->digit_count > 0 || digit != '0')
        mantissa->digit_count++;
    if (mantissa->digit_count <= DIGITS_MAX)
        mantissa->digits = mantissa->digits * 10 + (unsigned)(digit - '0');
}

/* Reads the sign, digits and point; refuses what no value may start with. */
static bool scan_mantissa(const char *text, const struct form *form, struct mantissa *mantissa,
                          struct diagnostic *diagnostic)
{
    *mantissa = (struct mantissa){0};
    if (*text == '\0') {
        diagnostic_set(diagnostic, "the value is empty; expected %s such as %s", form->noun,
                       form->examples);
        return false;
    }
    if (is_not_finite(text))
        return refuse(diagnostic, form, text, "is not finite");
    const char *at = text;
    mantissa->negative = *at == '-';
    at += mantissa->negative;
    if (!is_digit(*at)) {
        diagnostic_set(diagnostic, "'%.64s' is not %s; expected one such as %s", text, form->noun,
                       form->examples);
        return false;
    }
    if (at[0] == '0' && (is_digit(at[1]) || (at[1] | 0x20) == 'x' || (at[1] | 0x20) == 'o' ||
                         ((at[1] | 0x20) == 'b' && is_digit(at[2])))) {
        return refuse(diagnostic, form, text,
                      is_digit(at[1]) ? "is octal-looking: write it without the leading zero"
                                      : "is octal-looking or hexadecimal: write it in decimal");
    }
    for (; is_digit(*at); at++)
        mantissa_add(mantissa, *at);
    if (at[0] == '.' && is_digit(at[1])) {
        for (at++; is_digit(*at); at++) {
            mantissa_add(mantissa, *at);
            mantissa->decimals++;
        }
    }
    mantissa->chars = (size_t)(at - text);
    return true;
}

/* The factor that the rest of the text names; NULL with a diagnostic if it names none. */
static const struct factor *scan_factor(const char *text, size_t chars, const struct form *form,
                                        struct diagnostic *diagnostic)
{
    const char *rest = text + chars;
    size_t suffix = strlen(form->suffix);
    for (size_t i = 0; i < form->factor_count; i++) {
        size_t name = strlen(form->factors[i].name);
        if (strncmp(rest, form->factors[i].name, name) == 0 &&
            strncmp(rest + name, form->suffix, suffix) == 0 && rest[name + suffix] == '\0')
            return &form->factors[i];
    }
    if (*rest == '\0') {
        diagnostic_set(diagnostic, "'%.64s' needs a unit: %s", text, form->examples);
    } else {
        diagnostic_set(diagnostic, "'%.64s' has the unit '%.64s'; expected one of %s, such as %s",
                       text, rest, form->units, form->examples);
    }
    return NULL;
}

static bool refuse_negative(const char *text, const struct form *form,
                            const struct mantissa *mantissa, struct diagnostic *diagnostic)
{
    if (!mantissa->negative)
        return true;
    return refuse(diagnostic, form, text, "is negative");
}

/* A whole multiple of the base unit, exactly. */
static bool parse_exact(const char *text, const struct form *form, uint64_t *value,
                        struct diagnostic *diagnostic)
{
    struct mantissa mantissa;
    if (!scan_mantissa(text, form, &mantissa, diagnostic))
        return false;
    const struct factor *factor = scan_factor(text, mantissa.chars, form, diagnostic);
    if (factor == NULL || !refuse_negative(text, form, &mantissa, diagnostic))
        return false;
    if (mantissa.digit_count > DIGITS_MAX || mantissa.decimals > DIGITS_MAX)
        return refuse(diagnostic, form, text, "has too many digits");
    wide scaled = mantissa.digits * factor->scale;
    for (int i = 0; i < mantissa.decimals; i++) {
        if (scaled % 10 != 0) {
            return refuse(diagnostic, form, text,
                          form == &bytes_form ? "is not a whole number of bytes"
                                              : "is finer than 1ns");
        }
        scaled /= 10;
    }
    if (scaled >= INT64_MAX)
        return refuse(diagnostic, form, text, "is too large");
    *value = (uint64_t)scaled;
    return true;
}

bool unit_parse_duration(const char *text, int64_t *ns, struct diagnostic *diagnostic)
{
    uint64_t value;
    if (!parse_exact(text, &duration_form, &value, diagnostic))
        return false;
    *ns = (int64_t)value;
    return true;
}

bool unit_parse_bytes(const char *text, uint64_t *bytes, struct diagnostic *diagnostic)
{
    return parse_exact(text, &bytes_form, bytes, diagnostic);
}

/* The first `chars` characters of the text times 10^exponent, correctly rounded. They are digits
 * and a point, or a checked number. */
static bool to_double(const char *text, size_t chars, int exponent, double *value)
{
    char buffer[NUMBER_CHARS_MAX + 16];
    if (chars > NUMBER_CHARS_MAX)
        return false;
    if (exponent == 0)
        snprintf(buffer, sizeof(buffer), "%.*s", (int)chars, text);
    else
        snprintf(buffer, sizeof(buffer), "%.*se%d", (int)chars, text, exponent);
    errno = 0;
    *value = strtod(buffer, NULL);
    return errno == 0 && isfinite(*value);
}

bool unit_parse_rate(const char *text, double *rate, struct diagnostic *diagnostic)
{
    struct mantissa mantissa;
    if (!scan_mantissa(text, &rate_form, &mantissa, diagnostic))
        return false;
    const struct factor *factor = scan_factor(text, mantissa.chars, &rate_form, diagnostic);
    if (factor == NULL || !refuse_negative(text, &rate_form, &mantissa, diagnostic))
        return false;
    bool binary = factor->decimal_exp < 0;
    double value;
    if (!to_double(text, mantissa.chars, binary ? 0 : factor->decimal_exp, &value))
        return refuse(diagnostic, &rate_form, text, "is too large or has too many digits");
    value *= binary ? (double)factor->scale : 1.0;
    if (value != 0 && !(value >= RATE_MIN && value <= RATE_MAX))
        return refuse(diagnostic, &rate_form, text, "is too large or too small");
    *rate = value;
    return true;
}

bool unit_parse_count(const char *text, uint64_t *count, struct diagnostic *diagnostic)
{
    struct mantissa mantissa;
    if (!scan_mantissa(text, &count_form, &mantissa, diagnostic))
        return false;
    if (text[mantissa.chars] != '\0' || mantissa.decimals > 0)
        return refuse(diagnostic, &count_form, text, "is not a whole number without a unit");
    if (!refuse_negative(text, &count_form, &mantissa, diagnostic))
        return false;
    if (mantissa.digit_count > DIGITS_MAX || mantissa.digits > UNIT_COUNT_MAX)
        return refuse(diagnostic, &count_form, text, "is too large");
    *count = (uint64_t)mantissa.digits;
    return true;
}

/* Characters of an exponent such as e-5 at the start of the text; 0: none. */
static size_t scan_exponent(const char *text)
{
    if (*text != 'e' && *text != 'E')
        return 0;
    size_t chars = text[1] == '-' || text[1] == '+' ? 2 : 1;
    if (!is_digit(text[chars]))
        return 0;
    while (is_digit(text[chars]))
        chars++;
    return chars;
}

static bool parse_real(const char *text, const struct form *form, double *number,
                       struct diagnostic *diagnostic)
{
    struct mantissa mantissa;
    if (!scan_mantissa(text, form, &mantissa, diagnostic))
        return false;
    size_t chars = mantissa.chars + scan_exponent(text + mantissa.chars);
    bool percent = form == &ratio_form && text[chars] == '%' && chars == mantissa.chars;
    if (text[chars + percent] != '\0') {
        diagnostic_set(diagnostic,
                       "'%.64s' is not %s: '%.64s' is left over; expected one such as %s", text,
                       form->noun, text + chars, form->examples);
        return false;
    }
    double value;
    if (!to_double(text, chars, percent ? -2 : 0, &value))
        return refuse(diagnostic, form, text, "is too large, too small or has too many digits");
    *number = value == 0 ? 0 : value; /* no negative zero */
    return true;
}

bool unit_parse_ratio(const char *text, double *ratio, struct diagnostic *diagnostic)
{
    return parse_real(text, &ratio_form, ratio, diagnostic);
}

bool unit_parse_number(const char *text, double *number, struct diagnostic *diagnostic)
{
    return parse_real(text, &number_form, number, diagnostic);
}

bool unit_parse_choice(const char *text, const char *choices, uint32_t *index,
                       struct diagnostic *diagnostic)
{
    size_t length = strlen(text);
    uint32_t at = 0;
    for (const char *choice = choices; *choice != '\0'; at++) {
        size_t chars = strcspn(choice, "|");
        if (chars == length && memcmp(choice, text, chars) == 0) {
            *index = at;
            return true;
        }
        choice += chars + (choice[chars] == '|');
    }
    diagnostic_set(diagnostic, "'%.64s' is not a choice; expected one of %s", text, choices);
    return false;
}

/* The shortest number over all factors, 0.1s being longer than 100ms; among equals the largest. */
static void print_exact(uint64_t value, const struct form *form, char text[UNIT_TEXT_MAX])
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < form->factor_count; i++) {
        const struct factor *factor = &form->factors[i];
        wide rest = value % factor->scale;
        uint64_t thousandths = (uint64_t)(rest * 1000 / factor->scale);
        if (rest * 1000 % factor->scale != 0)
            continue;
        char number[UNIT_TEXT_MAX / 2];
        int chars =
            snprintf(number, sizeof(number), "%llu.%03llu",
                     (unsigned long long)(value / factor->scale), (unsigned long long)thousandths);
        size_t length = (size_t)chars;
        while (number[length - 1] == '0')
            length--;
        length -= number[length - 1] == '.';
        bool bare_zero = value == 0 && factor->scale != (form == &bytes_form ? 1 : 1000000000);
        size_t cost = length + (value > 0 && number[0] == '0');
        if (cost < best && !bare_zero) {
            best = cost;
            snprintf(text, UNIT_TEXT_MAX, "%.*s%s", (int)length, number, factor->name);
        }
    }
    assert(best != SIZE_MAX);
}

void unit_print_duration(int64_t ns, char text[UNIT_TEXT_MAX])
{
    assert(ns >= 0);
    print_exact((uint64_t)ns, &duration_form, text);
}

void unit_print_bytes(uint64_t bytes, char text[UNIT_TEXT_MAX])
{
    print_exact(bytes, &bytes_form, text);
}

void unit_print_rate(double rate, char text[UNIT_TEXT_MAX])
{
    assert(isfinite(rate) && rate >= 0);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < rate_form.factor_count; i++) {
        const struct factor *factor = &rate_form.factors[i];
        for (int digits = 0; digits <= RATE_DECIMALS_MAX; digits++) {
            char candidate[512];
            int chars = snprintf(candidate, sizeof(candidate), "%.*f", digits,
                                 rate / (double)factor->scale);
            size_t length = (size_t)chars;
            snprintf(candidate + length, sizeof(candidate) - length, "%s/s", factor->name);
            double back;
            struct diagnostic ignored;
            if (length >= best || length > UNIT_TEXT_MAX - 8)
                break;
            if (unit_parse_rate(candidate, &back, &ignored) && back == rate &&
                (rate != 0 || factor->scale == 1)) {
                best = length;
                memcpy(text, candidate, strlen(candidate) + 1);
                break;
            }
        }
    }
    assert(best != SIZE_MAX);
}

void unit_print_count(uint64_t count, char text[UNIT_TEXT_MAX])
{
    snprintf(text, UNIT_TEXT_MAX, "%llu", (unsigned long long)count);
}

void unit_print_number(double number, char text[UNIT_TEXT_MAX])
{
    assert(isfinite(number));
    if (fabs(number) < 1e15 && number == trunc(number)) {
        snprintf(text, UNIT_TEXT_MAX, "%.0f", number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, UNIT_TEXT_MAX, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
    assert(false); /* 17 digits hold any double */
}

void unit_print_choice(uint32_t index, const char *choices, char text[UNIT_TEXT_MAX])
{
    for (uint32_t i = 0; i < index; i++) {
        choices = strchr(choices, '|');
        assert(choices != NULL);
        choices++;
    }
    snprintf(text, UNIT_TEXT_MAX, "%.*s", (int)strcspn(choices, "|"), choices);
}
