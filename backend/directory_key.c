/* directory_key.c - keys to paths: each folder's name gets a mark that no key holds, so that an
 * object and a folder never want the same name. Ours. */
#include "backend/directory_key.h"

#include <string.h>

#include "backend/directory_store.h"

const char *directory_key_error_text(enum directory_key_error error)
{
    static const char *const texts[] = {
#define X(code, text) text,
        DIRECTORY_KEY_ERRORS(X)
#undef X
    };
    assert((size_t)error < sizeof(texts) / sizeof(texts[0]));
    return texts[error];
}

static bool byte_allowed(char c)
{
    return c > 0x20 && c < 0x7f && c != DIRECTORY_FOLDER_MARK && c != '\\';
}

bool directory_key_component(const char *name, size_t bytes)
{
    if (bytes == 0 || (bytes == 1 && name[0] == '.') || (bytes == 2 && memcmp(name, "..", 2) == 0))
        return false;
    if (bytes >= 4 && memcmp(name, ".nfs", 4) == 0)
        return false; /* what an NFS client calls a file that was deleted while open */
    for (size_t i = 0; i < bytes; i++)
        if (!byte_allowed(name[i]) || name[i] == '/')
            return false;
    return true;
}

enum directory_key_error directory_key_check(const char *key)
{
    size_t bytes = strnlen(key, STORE_KEY_MAX);
    if (bytes == 0)
        return DIRECTORY_KEY_EMPTY;
    if (bytes == STORE_KEY_MAX)
        return DIRECTORY_KEY_LONG;
    for (size_t i = 0; i < bytes; i++)
        if (!byte_allowed(key[i]))
            return DIRECTORY_KEY_BYTE;
    const char *component = key;
    for (;;) {
        size_t length = strcspn(component, "/");
        if (!directory_key_component(component, length))
            return DIRECTORY_KEY_COMPONENT;
        if (component == key && length == strlen(DIRECTORY_TEMP_FOLDER) &&
            memcmp(key, DIRECTORY_TEMP_FOLDER, length) == 0)
            return DIRECTORY_KEY_RESERVED;
        if (component[length] == '\0')
            return DIRECTORY_KEY_OK;
        component += length + 1;
    }
}

void directory_key_path(const char *key, char path[DIRECTORY_PATH_MAX])
{
    size_t used = 0;
    for (const char *at = key; *at != '\0'; at++) {
        assert(used + 3 <= DIRECTORY_PATH_MAX);
        if (*at == '/')
            path[used++] = DIRECTORY_FOLDER_MARK;
        path[used++] = *at;
    }
    if (used == 0)
        path[used++] = '.';
    path[used] = '\0';
}
