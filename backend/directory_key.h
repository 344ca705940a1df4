/* directory_key.h - which keys a directory can hold, and the paths that they become.
 *
 * A key is 1 to STORE_KEY_MAX - 1 bytes of printable ASCII (0x21 to 0x7e) except '+' and '\', in
 * components parted by single '/'. No component is empty, "." or "..", or starts with ".nfs", and
 * the first is not DIRECTORY_TEMP_FOLDER. Pure functions. */
#ifndef BACKEND_DIRECTORY_KEY_H
#define BACKEND_DIRECTORY_KEY_H

#include <stdbool.h>

#include "core/base.h"
#include "core/store.h"

#define DIRECTORY_FOLDER_MARK '+'
/* A '+' before every '/'. */
#define DIRECTORY_PATH_MAX (STORE_KEY_MAX + STORE_KEY_MAX / 2)

#define DIRECTORY_KEY_ERRORS(X)                                                                    \
    X(DIRECTORY_KEY_OK, "ok")                                                                      \
    X(DIRECTORY_KEY_EMPTY, "it is empty")                                                          \
    X(DIRECTORY_KEY_LONG, "it is too long")                                                        \
    X(DIRECTORY_KEY_BYTE, "it holds a byte that is not printable ASCII, a space, '+' or '\\'")     \
    X(DIRECTORY_KEY_COMPONENT, "a part between slashes is empty, '.', '..' or starts with '.nfs'") \
    X(DIRECTORY_KEY_RESERVED, "it names the folder of unfinished writes")

enum directory_key_error {
#define X(code, text) code,
    DIRECTORY_KEY_ERRORS(X)
#undef X
};

const char *directory_key_error_text(enum directory_key_error error);

/* `key` ends with NUL within STORE_KEY_MAX bytes, or is DIRECTORY_KEY_LONG. */
MUST_USE enum directory_key_error directory_key_check(const char *key);

/* Whether `name`, of `bytes` bytes, can be one component of a key other than its first. */
bool directory_key_component(const char *name, size_t bytes);

/* The path of an object, relative to the root; or of a folder, if the key is "" or ends in '/'. ""
 * gives ".". */
void directory_key_path(const char *key, char path[DIRECTORY_PATH_MAX]);

#endif
