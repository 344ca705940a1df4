/* s3_text.c - see s3_text.h. Ours. */
#include "backend/s3_text.h"

#include <string.h>

#define HIDDEN_RUN 32 /* a signature has 64 digits, a secret key 40, a token hundreds */

static bool is_blank(unsigned char c)
{
    return c <= ' ' || c == 0x7f;
}

static bool is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

void s3_text_copy(const char *text, size_t bytes, char *copy, size_t capacity)
{
    size_t used = 0;
    bool blank = false;
    assert(capacity > 0);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (is_blank(c)) {
            blank = used > 0;
            continue;
        }
        if (c > 0x7f && is_continuation(c) && i > 0 && (unsigned char)text[i - 1] > 0x7f)
            continue;
        if (used + blank + 1 >= capacity)
            break;
        if (blank)
            copy[used++] = ' ';
        blank = false;
        copy[used++] = c > 0x7f ? '?' : (char)c;
    }
    copy[used] = '\0';
}

void s3_text_copy_whole(const char *text, size_t bytes, char *copy, size_t capacity)
{
    while (bytes > 0 && is_blank((unsigned char)text[bytes - 1]))
        bytes--;
    while (bytes > 0 && is_blank((unsigned char)*text)) {
        text++;
        bytes--;
    }
    s3_text_copy(text, bytes, copy, capacity);
    if (strlen(copy) != bytes || memcmp(copy, text, bytes) != 0)
        copy[0] = '\0';
}

static bool in_run(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("+/=_-.%", c) != NULL);
}

void s3_text_hide(char *text)
{
    static const char mark[] = "[...]";
    char *to = text;
    while (*text != '\0') {
        size_t run = 0;
        while (in_run(text[run]))
            run++;
        if (run >= HIDDEN_RUN) {
            memcpy(to, mark, sizeof(mark) - 1);
            to += sizeof(mark) - 1;
        } else {
            run += run == 0;
            memmove(to, text, run);
            to += run;
        }
        text += run;
    }
    *to = '\0';
}

bool s3_text_number(const char *text, size_t bytes, uint64_t max, uint64_t *number)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > max / 10 || digit > max - 10 * value)
            return false;
        value = 10 * value + digit;
    }
    if (bytes == 0)
        return false;
    *number = value;
    return true;
}

int s3_text_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}
