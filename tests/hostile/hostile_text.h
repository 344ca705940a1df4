/* hostile_text.h - texts that grow, and percent-encoding, for the hostile server. */
#ifndef TESTS_HOSTILE_HOSTILE_TEXT_H
#define TESTS_HOSTILE_HOSTILE_TEXT_H

#include <stddef.h>

/* Always NUL-terminated once something was added; zero before first use. */
struct hostile_text {
    char *data;
    size_t bytes;
    size_t capacity;
};

__attribute__((format(printf, 2, 3))) void hostile_text_add(struct hostile_text *text,
                                                            const char *format, ...);
void hostile_text_add_bytes(struct hostile_text *text, const void *data, size_t bytes);
void hostile_text_free(struct hostile_text *text);

enum hostile_slash {
    HOSTILE_SLASH_KEEP,
    HOSTILE_SLASH_ENCODE,
};

/* Percent-encodes all but what RFC 3986 calls unreserved. */
void hostile_text_add_encoded(struct hostile_text *text, const char *plain,
                              enum hostile_slash slash);
/* Decodes `bytes` of a text; a percent sign that starts no code stays. The caller frees it. */
char *hostile_text_decode(const char *encoded, size_t bytes);

#endif
