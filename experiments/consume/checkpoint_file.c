/* checkpoint_file.c - see checkpoint_file.h. Ours. */
#include "experiments/consume/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT 1
#define DIGEST_DIGITS 16
/* A save takes milliseconds: who has the lock for longer hangs, or is stopped. */
#define LOCK_TRIES 1000
#define LOCK_PAUSE_MS 10

#define DAMAGED_TEXT                                                                               \
    "%.400s is damaged, or of another version of this program; move it away to start without "     \
    "checkpoints"

/* ---- names ---- */

static bool path_of(const struct checkpoint_file *file, const char *ending, char path[PATH_MAX],
                    char error[CHECKPOINT_FILE_TEXT_MAX])
{
    int chars = snprintf(path, PATH_MAX, "%s/rank-%u.json%s", file->folder, file->rank, ending);
    if (chars > 0 && chars < PATH_MAX)
        return true;
    snprintf(error, CHECKPOINT_FILE_TEXT_MAX, "the name of the folder of checkpoints is too long");
    return false;
}

static bool fail(char error[CHECKPOINT_FILE_TEXT_MAX], const char *what, const char *path)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    snprintf(error, CHECKPOINT_FILE_TEXT_MAX,
             "checkpoints: cannot %s %.400s: %s; %s or choose another folder", what, path,
             strerror(errno), full ? "free space" : "change its permissions");
    return false;
}

/* The name that `path` has in the folder that holds it, for good. */
static bool sync_name(char path[PATH_MAX])
{
    char *slash = strrchr(path, '/');
    const char *holder = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL && slash != path)
        *slash = '\0';
    int fd = open(holder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (slash != NULL && slash != path)
        *slash = '/';
    errno = reason;
    return synced;
}

/* A folder that was there may have been made a moment ago by another rank, which has not synced its
 * name yet: it is synced, too, where this process may. */
static bool make_folder(char path[PATH_MAX], char error[CHECKPOINT_FILE_TEXT_MAX])
{
    bool made = mkdir(path, 0777) == 0;
    if (!made && errno != EEXIST)
        return fail(error, "make", path);
    return sync_name(path) || !made || fail(error, "keep", path);
}

bool checkpoint_file_prepare(const char *folder, char error[CHECKPOINT_FILE_TEXT_MAX])
{
    char path[PATH_MAX];
    if (folder[0] == '\0' || strlen(folder) >= sizeof(path) - 32) {
        snprintf(error, CHECKPOINT_FILE_TEXT_MAX, "--checkpoints: '%.100s' is no name of a folder",
                 folder);
        return false;
    }
    snprintf(path, sizeof(path), "%s/", folder);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make_folder(path, error))
            return false;
        *slash = '/';
    }
    return access(path, R_OK | W_OK | X_OK) == 0 || fail(error, "write to", path);
}

/* ---- loading ---- */

static bool parse_digest(const char *text, uint64_t *digest)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    if (text == NULL || strlen(text) != DIGEST_DIGITS)
        return false;
    for (; *text != '\0'; text++) {
        const char *digit = strchr(digits, *text);
        if (digit == NULL)
            return false;
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *digest = value;
    return true;
}

static bool parse_checkpoint(const json_t *row, struct checkpoint *checkpoint)
{
    json_int_t step = json_integer_value(json_object_get(row, "step"));
    json_int_t number = json_integer_value(json_object_get(row, "number"));
    const char *digest = json_string_value(json_object_get(row, "digest"));
    if (step < 1 || step == INT64_MAX || number < 1 || number == INT64_MAX ||
        !parse_digest(digest, &checkpoint->digest))
        return false;
    checkpoint->step = (uint64_t)step;
    checkpoint->number = (uint64_t)number;
    return true;
}

static bool parse_set(const json_t *rows, struct checkpoint_set *set)
{
    size_t count = json_array_size(rows);
    if (!json_is_array(rows) || count > CHECKPOINTS_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct checkpoint *checkpoint = &set->items[i];
        if (!parse_checkpoint(json_array_get(rows, i), checkpoint) ||
            (i > 0 && checkpoint->step <= set->items[i - 1].step))
            return false;
    }
    set->count = (uint32_t)count;
    return true;
}

static bool check_whose(const struct checkpoint_file *file, const json_t *root, const char *path,
                        char error[CHECKPOINT_FILE_TEXT_MAX])
{
    const char *run = json_string_value(json_object_get(root, "run"));
    json_int_t slices = json_integer_value(json_object_get(root, "slices"));
    const json_t *rank = json_object_get(root, "rank");
    bool same_run = run != NULL && strcmp(run, file->run) == 0;
    bool same_rank = json_is_integer(rank) && json_integer_value(rank) == (json_int_t)file->rank;
    if (same_run && same_rank && slices == (json_int_t)file->slices)
        return true;
    if (same_run && !same_rank)
        snprintf(error, CHECKPOINT_FILE_TEXT_MAX,
                 "%.400s holds checkpoints of another rank than %u: was it renamed? Give it its "
                 "name back, or move it away to start without checkpoints",
                 path, file->rank);
    else if (same_run)
        snprintf(error, CHECKPOINT_FILE_TEXT_MAX,
                 "%.400s is of %lld slices a batch, and this run has %u; give another folder", path,
                 (long long)slices, file->slices);
    else
        snprintf(error, CHECKPOINT_FILE_TEXT_MAX,
                 "%.400s holds checkpoints of another run; give the folder of this run's, or an "
                 "empty one",
                 path);
    return false;
}

bool checkpoint_file_parse(const struct checkpoint_file *file, const struct checkpoint_text *text,
                           struct checkpoint_set *set, char error[CHECKPOINT_FILE_TEXT_MAX])
{
    json_error_t reason;
    struct checkpoint_set read = {0};
    *set = read;
    json_t *root = json_loadb(text->text, text->bytes, JSON_REJECT_DUPLICATES, &reason);
    bool right = json_integer_value(json_object_get(root, "format")) == FORMAT &&
                 parse_set(json_object_get(root, "checkpoints"), &read);
    if (!right)
        snprintf(error, CHECKPOINT_FILE_TEXT_MAX, DAMAGED_TEXT, text->name);
    else
        right = check_whose(file, root, text->name, error);
    json_decref(root);
    if (right)
        *set = read;
    return right;
}

/* Bytes read; 0: there is no file; -1: `error` says why. */
static ssize_t read_text(const struct checkpoint_file *file, char path[PATH_MAX],
                         char text[CHECKPOINT_FILE_BYTES_MAX], char error[CHECKPOINT_FILE_TEXT_MAX])
{
    if (!path_of(file, "", path, error))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || fail(error, "read", path) ? 0 : -1;
    ssize_t got = read(fd, text, CHECKPOINT_FILE_BYTES_MAX);
    if (got < 0)
        fail(error, "read", path);
    close(fd);
    if (got != 0)
        return got;
    snprintf(error, CHECKPOINT_FILE_TEXT_MAX, DAMAGED_TEXT, path);
    return -1;
}

bool checkpoint_file_load(const struct checkpoint_file *file, struct checkpoint_set *set,
                          char error[CHECKPOINT_FILE_TEXT_MAX])
{
    char path[PATH_MAX];
    char text[CHECKPOINT_FILE_BYTES_MAX];
    *set = (struct checkpoint_set){0};
    ssize_t got = read_text(file, path, text, error);
    if (got <= 0)
        return got == 0;
    struct checkpoint_text found = {.name = path, .text = text, .bytes = (size_t)got};
    return checkpoint_file_parse(file, &found, set, error);
}

bool checkpoint_file_is_by_token(const struct checkpoint_file *file)
{
    char path[PATH_MAX];
    char text[CHECKPOINT_FILE_BYTES_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    json_error_t reason;
    ssize_t got = read_text(file, path, text, error);
    if (got <= 0)
        return false;
    json_t *root = json_loadb(text, (size_t)got, JSON_REJECT_DUPLICATES, &reason);
    const char *token = json_string_value(json_object_get(root, "token"));
    bool same = token != NULL && strcmp(token, file->token) == 0;
    json_decref(root);
    return same;
}

/* ---- saving ---- */

char *checkpoint_file_print(const struct checkpoint_file *file, const struct checkpoint_set *set)
{
    json_t *root = json_object();
    json_t *rows = json_array();
    for (uint32_t i = 0; i < set->count; i++) {
        char digest[DIGEST_DIGITS + 1];
        json_t *row = json_object();
        snprintf(digest, sizeof(digest), "%016" PRIx64, set->items[i].digest);
        json_object_set_new(row, "step", json_integer((json_int_t)set->items[i].step));
        json_object_set_new(row, "number", json_integer((json_int_t)set->items[i].number));
        json_object_set_new(row, "digest", json_string(digest));
        json_array_append_new(rows, row);
    }
    json_object_set_new(root, "format", json_integer(FORMAT));
    json_object_set_new(root, "run", json_string(file->run));
    json_object_set_new(root, "rank", json_integer(file->rank));
    json_object_set_new(root, "slices", json_integer(file->slices));
    if (file->token != NULL)
        json_object_set_new(root, "token", json_string(file->token));
    json_object_set_new(root, "checkpoints", rows);
    char *text = json_dumps(root, JSON_INDENT(1));
    assert(text != NULL && strlen(text) <= CHECKPOINT_FILE_BYTES_MAX);
    json_decref(root);
    return text;
}

static bool write_synced(const char *path, const char *text, char error[CHECKPOINT_FILE_TEXT_MAX])
{
    size_t bytes = strlen(text);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(error, "make", path);
    errno = ENOSPC; /* what a short write means */
    bool written = write(fd, text, bytes) == (ssize_t)bytes && fsync(fd) == 0;
    if (!written)
        fail(error, "write", path);
    close(fd);
    return written;
}

static bool sync_folder(const char *folder, char error[CHECKPOINT_FILE_TEXT_MAX])
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, "open", folder);
    bool synced = fsync(fd) == 0 || fail(error, "sync", folder);
    close(fd);
    return synced;
}

/* -1: `error` says why. What is returned is closed to unlock. */
static int lock_file(const struct checkpoint_file *file, char error[CHECKPOINT_FILE_TEXT_MAX])
{
    char path[PATH_MAX];
    if (!path_of(file, ".lock", path, error))
        return -1;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        fail(error, "make", path);
        return -1;
    }
    for (int tries = 1; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        bool held = errno == EWOULDBLOCK;
        if ((!held && errno != EINTR) || tries == LOCK_TRIES) {
            fail(error, "lock", path);
            if (held)
                snprintf(error, CHECKPOINT_FILE_TEXT_MAX,
                         "%.400s has been locked for 10 s by another process of rank %u, which "
                         "hangs or is stopped; end it",
                         path, file->rank);
            close(fd);
            return -1;
        }
        (void)poll(NULL, 0, LOCK_PAUSE_MS);
    }
    return fd;
}

/* Under the lock, so one name is enough: what a process left there that was killed is written over,
 * and there is never more than one. */
static bool replace(const struct checkpoint_file *file, const struct checkpoint_set *set,
                    char error[CHECKPOINT_FILE_TEXT_MAX])
{
    char path[PATH_MAX];
    char temporary[PATH_MAX];
    if (!path_of(file, "", path, error) || !path_of(file, ".new", temporary, error))
        return false;
    char *text = checkpoint_file_print(file, set);
    bool saved = write_synced(temporary, text, error);
    free(text);
    if (saved && rename(temporary, path) != 0)
        saved = fail(error, "replace", path);
    if (!saved)
        unlink(temporary);
    return saved && sync_folder(file->folder, error);
}

enum checkpoint_save checkpoint_file_save(const struct checkpoint_file *file,
                                          const struct checkpoint_set *set,
                                          char error[CHECKPOINT_FILE_TEXT_MAX])
{
    struct checkpoint_set durable;
    enum checkpoint_save result = CHECKPOINT_SAVE_FAILED;
    assert(set->count <= CHECKPOINTS_MAX);
    int lock = lock_file(file, error);
    if (lock < 0)
        return result;
    if (checkpoint_file_load(file, &durable, error)) {
        if (checkpoint_highest_number(&durable) > checkpoint_highest_number(set))
            result = CHECKPOINT_SAVE_REFUSED;
        else if (replace(file, set, error))
            result = CHECKPOINT_SAVE_DONE;
    }
    close(lock);
    return result;
}
