/* hostile_text.c - see hostile_text.h. */
#include "tests/hostile/hostile_text.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct hostile_text *text, size_t more)
{
    size_t needed = text->bytes + more + 1;
    if (needed <= text->capacity)
        return;
    text->capacity = 2 * needed;
    text->data = realloc(text->data, text->capacity);
    assert(text->data != NULL);
}

void hostile_text_add_bytes(struct hostile_text *text, const void *data, size_t bytes)
{
    reserve(text, bytes);
    if (bytes > 0)
        memcpy(text->data + text->bytes, data, bytes);
    text->bytes += bytes;
    text->data[text->bytes] = '\0';
}

void hostile_text_add(struct hostile_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *line = NULL;
    int bytes = vasprintf(&line, format, list);
    va_end(list);
    assert(bytes >= 0);
    hostile_text_add_bytes(text, line, (size_t)bytes);
    free(line);
}

void hostile_text_free(struct hostile_text *text)
{
    free(text->data);
    *text = (struct hostile_text){0};
}

void hostile_text_add_encoded(struct hostile_text *text, const char *plain,
                              enum hostile_slash slash)
{
    for (const char *c = plain; *c != '\0'; c++) {
        int kept = isalnum((unsigned char)*c) || strchr("-._~", *c) != NULL ||
                   (slash == HOSTILE_SLASH_KEEP && *c == '/');
        if (kept)
            hostile_text_add_bytes(text, c, 1);
        else
            hostile_text_add(text, "%%%02X", (unsigned char)*c);
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *hostile_text_decode(const char *encoded, size_t bytes)
{
    char *plain = malloc(bytes + 1);
    assert(plain != NULL);
    size_t used = 0;
    for (size_t i = 0; i < bytes; i++) {
        int high = encoded[i] == '%' && i + 2 < bytes ? hex_value(encoded[i + 1]) : -1;
        int low = high >= 0 ? hex_value(encoded[i + 2]) : -1;
        if (low >= 0) {
            plain[used++] = (char)(16 * high + low);
            i += 2;
        } else {
            plain[used++] = encoded[i];
        }
    }
    plain[used] = '\0';
    return plain;
}
