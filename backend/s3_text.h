/* s3_text.h - texts that a server sent: made harmless for people, read as numbers. Every byte is
 * hostile. Pure. */
#ifndef BACKEND_S3_TEXT_H
#define BACKEND_S3_TEXT_H

#include <stdbool.h>

#include "core/base.h"

/* Copies `bytes` of text as one line of printable ASCII without blanks at its ends or in a row,
 * cut to `capacity` with its NUL. What is not ASCII becomes '?', one a character. */
void s3_text_copy(const char *text, size_t bytes, char *copy, size_t capacity);
/* As s3_text_copy, but empty where the text would be cut or changed: a part of an address is no
 * address. */
void s3_text_copy_whole(const char *text, size_t bytes, char *copy, size_t capacity);
/* Replaces runs as long as signatures, tokens and secrets are by "[...]": servers echo what they
 * were sent. */
void s3_text_hide(char *text);
/* Decimal digits and nothing else, at most `max`. */
MUST_USE bool s3_text_number(const char *text, size_t bytes, uint64_t max, uint64_t *number);
/* The value of a hexadecimal digit of either case; -1: it is none. */
int s3_text_digit(char digit);

#endif
