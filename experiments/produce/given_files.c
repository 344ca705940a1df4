/* given_files.c - see given_files.h. Ours. */
#include "experiments/produce/given_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void refuse_unreadable(const char *path, int reason, char error[GIVEN_FILES_TEXT_MAX])
{
    const char *advice = reason == EACCES
                             ? "make it and its folders readable for this user"
                             : "check the path, or leave files out for synthetic batches";
    snprintf(error, GIVEN_FILES_TEXT_MAX, "%.600s cannot be read: %s; %s", path, strerror(reason),
             advice);
}

static bool look_at(const char *path, uint64_t *bytes, char error[GIVEN_FILES_TEXT_MAX])
{
    struct stat status;
    if (stat(path, &status) != 0) {
        refuse_unreadable(path, errno, error);
        return false;
    }
    *bytes = (uint64_t)status.st_size;
    if (!S_ISREG(status.st_mode))
        snprintf(error, GIVEN_FILES_TEXT_MAX,
                 "%.600s is not a file; give files, one for each batch", path);
    else if (status.st_size == 0)
        snprintf(error, GIVEN_FILES_TEXT_MAX, "%.600s is empty; a batch has at least one byte",
                 path);
    else if (*bytes > GIVEN_FILE_BYTES_MAX)
        snprintf(error, GIVEN_FILES_TEXT_MAX,
                 "%.600s has %" PRIu64 " bytes; a batch has at most %" PRIu64 ": split it", path,
                 *bytes, GIVEN_FILE_BYTES_MAX);
    else if (access(path, R_OK) != 0)
        refuse_unreadable(path, errno, error);
    else
        return true;
    return false;
}

bool given_files_open(char **paths, size_t count, struct given_files *files,
                      char error[GIVEN_FILES_TEXT_MAX])
{
    assert(count > 0);
    *files = (struct given_files){.count = count, .paths = paths};
    files->sizes = calloc(count, sizeof(*files->sizes));
    files->tgb_bytes = calloc(count, sizeof(*files->tgb_bytes));
    assert(files->sizes != NULL);
    assert(files->tgb_bytes != NULL);
    for (size_t i = 0; i < count; i++) {
        if (!look_at(paths[i], &files->sizes[i], error)) {
            given_files_close(files);
            return false;
        }
        files->tgb_bytes[i] = files->sizes[i];
    }
    return true;
}

void given_files_close(struct given_files *files)
{
    free(files->sizes);
    free(files->tgb_bytes);
    *files = (struct given_files){0};
}

/* ---- reading a file part by part ---- */

struct reading {
    const struct given_files *files;
    size_t index;
    int fd;
    uint64_t left; /* bytes of the file not read yet */
};

static bool say_why(const struct reading *reading, int reason, char error[STORE_ERROR_MAX])
{
    const char *path = reading->files->paths[reading->index];
    snprintf(error, STORE_ERROR_MAX, "%.150s cannot be read: %s", path, strerror(reason));
    return false;
}

/* what: " its size", or nothing */
static bool say_change(const struct reading *reading, const char *what, char error[STORE_ERROR_MAX])
{
    snprintf(error, STORE_ERROR_MAX,
             "%.120s changed%s while it was to be uploaded; give files that nobody writes to",
             reading->files->paths[reading->index], what);
    return false;
}

static bool reading_open(struct reading *reading, const struct given_files *files, size_t index,
                         char error[STORE_ERROR_MAX])
{
    assert(index < files->count);
    *reading = (struct reading){.files = files, .index = index, .left = files->sizes[index]};
    reading->fd = open(files->paths[index], O_RDONLY | O_CLOEXEC);
    return reading->fd >= 0 || say_why(reading, errno, error);
}

/* Exactly so many bytes. After the file's last one it must end. */
static bool reading_take(struct reading *reading, uint8_t *data, uint64_t bytes,
                         char error[STORE_ERROR_MAX])
{
    uint64_t got = 0;
    uint8_t beyond;
    reading->left -= bytes;
    for (;;) {
        bool full = got == bytes;
        if (full && reading->left > 0)
            return true;
        ssize_t here =
            full ? read(reading->fd, &beyond, 1) : read(reading->fd, data + got, bytes - got);
        if (here < 0 && errno == EINTR)
            continue;
        if (here < 0)
            return say_why(reading, errno, error);
        if (here == 0 || full)
            return (here == 0 && full) || say_change(reading, " its size", error);
        got += (uint64_t)here;
    }
}

/* ---- slices ---- */

/* Raw bytes of slice `slice`: all have as many, until the file ends. */
static uint32_t raw_bytes(const struct given_files *files, size_t index, uint32_t slice)
{
    uint64_t slices = tgb_mesh_slices(files->mesh);
    uint64_t each = (files->sizes[index] + slices - 1) / slices;
    uint64_t before = each * slice;
    if (before >= files->sizes[index])
        return 0;
    uint64_t left = files->sizes[index] - before;
    return (uint32_t)(left < each ? left : each);
}

/* The next slice into its slot. Without compression it is read there at once. */
static bool fill_slice(struct reading *reading, const struct tgb_object *object, uint32_t slice,
                       char error[STORE_ERROR_MAX])
{
    const struct given_files *files = reading->files;
    uint32_t bytes = raw_bytes(files, reading->index, slice);
    if (files->level == 0) {
        if (!reading_take(reading, tgb_object_slice(object, slice), bytes, error))
            return false;
        tgb_object_seal_slice(object, slice, bytes);
        return true;
    }
    uint8_t *raw = malloc(bytes + (size_t)1);
    bool good =
        raw != NULL ? reading_take(reading, raw, bytes, error) : say_why(reading, ENOMEM, error);
    if (good &&
        tgb_object_compress_slice(
            object, slice,
            &(struct tgb_raw){.bytes = raw, .count = bytes, .level = files->level}) != TGB_OK)
        good = say_change(reading, "", error); /* when its size was found it had other bytes */
    free(raw);
    return good;
}

static bool fill_tgb(struct reading *reading, const struct tgb_name *name, uint8_t *bytes,
                     char error[STORE_ERROR_MAX])
{
    const struct given_files *files = reading->files;
    struct tgb_object object = {.mesh = files->mesh, .name = *name, .bytes = bytes};
    uint32_t slices = tgb_mesh_slices(files->mesh);
    if (slices == 0)
        return reading_take(reading, bytes, files->sizes[reading->index], error);
    enum tgb_error cut = tgb_layout_make(files->tgb_bytes[reading->index], slices, &object.layout);
    assert(cut == TGB_OK);
    for (uint32_t i = 0; i < slices; i++)
        if (!fill_slice(reading, &object, i, error))
            return false;
    tgb_object_seal(&object);
    return true;
}

uint8_t *given_files_tgb(const struct given_files *files, size_t index, const struct tgb_name *name,
                         char error[STORE_ERROR_MAX])
{
    struct reading reading;
    if (!reading_open(&reading, files, index, error))
        return NULL;
    uint8_t *bytes = malloc(files->tgb_bytes[index]);
    bool good =
        bytes != NULL ? fill_tgb(&reading, name, bytes, error) : say_why(&reading, ENOMEM, error);
    close(reading.fd);
    if (good)
        return bytes;
    free(bytes);
    return NULL;
}

/* ---- sizes ---- */

/* What the slot of every slice must hold: the longest as it will be stored. One buffer for a raw
 * slice, and one for the stored. */
static bool find_stored(const struct given_files *files, size_t index, uint8_t *buffer,
                        uint32_t *longest, char error[STORE_ERROR_MAX])
{
    struct reading reading;
    uint32_t capacity = raw_bytes(files, index, 0);
    *longest = 1; /* no slot is empty */
    if (!reading_open(&reading, files, index, error))
        return false;
    bool good = true;
    for (uint32_t i = 0; good && i < tgb_mesh_slices(files->mesh); i++) {
        struct tgb_raw raw = {
            .bytes = buffer, .count = raw_bytes(files, index, i), .level = files->level};
        struct tgb_slice slice;
        good = reading_take(&reading, buffer, raw.count, error);
        if (!good)
            break;
        enum tgb_error fits = tgb_slice_compress(&raw, buffer + capacity, capacity, &slice);
        assert(fits == TGB_OK);
        *longest = slice.stored_bytes > *longest ? slice.stored_bytes : *longest;
    }
    close(reading.fd);
    return good;
}

/* The size of a file's TGB. */
static bool slice_file(const struct given_files *files, size_t index, uint64_t *tgb_bytes,
                       char error[GIVEN_FILES_TEXT_MAX])
{
    uint32_t slices = tgb_mesh_slices(files->mesh);
    uint64_t each = (files->sizes[index] + slices - 1) / slices;
    uint32_t longest = (uint32_t)each;
    char reason[STORE_ERROR_MAX];
    bool good = each <= UINT32_MAX;
    if (good && files->level > 0) {
        uint8_t *buffer = malloc(2 * each);
        assert(buffer != NULL);
        bool read = find_stored(files, index, buffer, &longest, reason);
        free(buffer);
        if (!read) {
            snprintf(error, GIVEN_FILES_TEXT_MAX, "%s", reason);
            return false;
        }
    }
    *tgb_bytes = tgb_layout_object_bytes(slices, longest);
    if (good && *tgb_bytes <= GIVEN_FILE_BYTES_MAX)
        return true;
    snprintf(error, GIVEN_FILES_TEXT_MAX,
             "%.600s is too large for a TGB of %u slices: split it (a slice has less than 4 GiB, "
             "a TGB at most 5 GiB)",
             files->paths[index], slices);
    return false;
}

bool given_files_slice(struct given_files *files, struct tgb_mesh mesh, int level,
                       char error[GIVEN_FILES_TEXT_MAX])
{
    assert(tgb_mesh_valid(mesh));
    files->mesh = mesh;
    files->level = level;
    if (tgb_mesh_slices(mesh) == 0)
        return true;
    for (size_t i = 0; i < files->count; i++)
        if (!slice_file(files, i, &files->tgb_bytes[i], error))
            return false;
    return true;
}
