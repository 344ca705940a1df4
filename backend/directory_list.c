/* directory_list.c - LIST on a directory: keys in ascending byte order over the whole key.
 *
 * Method: a folder's subtree is one run of keys in that order, and its place is that of its key
 * with the final '/'; so entries sorted by key, with '/' behind folders, and folders entered in
 * turn, give the order. Of a folder's entries only the smallest that the page can still take are
 * kept, in a heap with the largest on top, so that memory is bounded and a folder of n entries
 * costs n comparisons; the folder is read again in the rare case that all of those were empty
 * folders. Only folders that prefix and after allow are read. Nothing is remembered between calls:
 * other processes write too. Ours. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/directory_private.h"

struct candidate {
    char key[STORE_KEY_MAX]; /* a folder's ends in '/' */
};

struct selection {
    struct candidate *heap;
    size_t count;
    size_t limit;
    bool more; /* larger ones were dropped */
};

/* The walk ends when the page is full and one more key was seen. */
enum walk {
    WALK_ON,
    WALK_END,
    WALK_ERROR,
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whether the key, or a key of the folder (it ends in '/'), could be in the page. */
static bool wanted(const struct store_op *op, const char *key)
{
    bool folder = key[strlen(key) - 1] == '/';
    bool in_prefix = starts_with(key, op->key); /* the walk began in the prefix's folder */
    bool is_after = strcmp(key, op->after) > 0 || (folder && starts_with(op->after, key));
    return in_prefix && is_after;
}

/* ---- the smallest of a folder ---- */

static void sift_down(struct selection *selection, size_t index, const char *key)
{
    struct candidate *heap = selection->heap;
    for (;;) {
        size_t child = 2 * index + 1;
        if (child + 1 < selection->count && strcmp(heap[child + 1].key, heap[child].key) > 0)
            child++;
        if (child >= selection->count || strcmp(heap[child].key, key) <= 0)
            break;
        heap[index] = heap[child];
        index = child;
    }
    memcpy(heap[index].key, key, strlen(key) + 1);
}

static void selection_offer(struct selection *selection, const char *key)
{
    struct candidate *heap = selection->heap;
    if (selection->count == selection->limit) {
        selection->more = true;
        if (strcmp(key, heap[0].key) < 0)
            sift_down(selection, 0, key);
        return;
    }
    size_t index = selection->count++;
    while (index > 0 && strcmp(key, heap[(index - 1) / 2].key) > 0) {
        heap[index] = heap[(index - 1) / 2];
        index = (index - 1) / 2;
    }
    memcpy(heap[index].key, key, strlen(key) + 1);
}

static int compare_candidates(const void *a, const void *b)
{
    return strcmp(((const struct candidate *)a)->key, ((const struct candidate *)b)->key);
}

/* The key of an entry of the folder, a folder's with '/' at its end; false if it is none of ours.
 */
static bool entry_key(DIR *dir, const struct dirent *entry, const char *folder_key,
                      char key[STORE_KEY_MAX])
{
    size_t above = strlen(folder_key);
    size_t bytes = strlen(entry->d_name);
    unsigned char type = entry->d_type;
    if (type == DT_UNKNOWN || type == DT_LNK) {
        struct stat status;
        if (fstatat(dirfd(dir), entry->d_name, &status, 0) != 0)
            return false;
        type = S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
    }
    bool folder = type == DT_DIR;
    if (type != DT_DIR && type != DT_REG)
        return false;
    if (folder && entry->d_name[bytes - 1] != DIRECTORY_FOLDER_MARK)
        return false;
    if (folder)
        bytes--;                                      /* the mark becomes the slash */
    size_t needed = above + bytes + (folder ? 2 : 1); /* with the slash and the NUL */
    if (needed > STORE_KEY_MAX || !directory_key_component(entry->d_name, bytes))
        return false;
    memcpy(key, folder_key, above);
    memcpy(key + above, entry->d_name, bytes);
    if (folder)
        key[above + bytes++] = '/';
    key[above + bytes] = '\0';
    return true;
}

/* Fills the selection with the smallest wanted entries greater than `cursor`, sorted. */
static int select_entries(const struct job *job, const char *folder_key, const char *cursor,
                          struct selection *selection)
{
    char path[DIRECTORY_PATH_MAX];
    directory_key_path(folder_key, path);
    int fd = openat(job->directory->root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        int error = errno;
        close(fd);
        return error;
    }
    errno = 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char key[STORE_KEY_MAX];
        if (entry_key(dir, entry, folder_key, key) && strcmp(key, cursor) > 0 &&
            wanted(job->op, key))
            selection_offer(selection, key);
        errno = 0;
    }
    int error = errno;
    closedir(dir);
    qsort(selection->heap, selection->count, sizeof(struct candidate), compare_candidates);
    return error;
}

/* ---- the walk ---- */

static enum walk add_object(struct job *job, const char *key)
{
    char path[DIRECTORY_PATH_MAX];
    directory_key_path(key, path);
    struct stat status;
    if (fstatat(job->directory->root_fd, path, &status, 0) != 0) {
        if (errno == ENOENT)
            return WALK_ON; /* deleted since */
        directory_answer_error(job, STORE_FAILED, "list, with prefix,", errno);
        return WALK_ERROR;
    }
    if (job->page.count == job->op->list_keys_max) {
        job->page.truncated = true;
        return WALK_END;
    }
    list_page_add(&job->page, key, (uint64_t)status.st_size);
    return WALK_ON;
}

static enum walk walk_folder(struct job *job, const char *folder_key);

static enum walk visit(struct job *job, const struct selection *selection)
{
    enum walk walk = WALK_ON;
    for (size_t i = 0; i < selection->count && walk == WALK_ON; i++) {
        const char *key = selection->heap[i].key;
        if (i > 0 && strcmp(key, selection->heap[i - 1].key) == 0)
            continue; /* NFS may give an entry twice while its folder changes */
        if (key[strlen(key) - 1] == '/')
            walk = walk_folder(job, key);
        else
            walk = add_object(job, key);
    }
    return walk;
}

/* Recursion is bounded: a key has at most STORE_KEY_MAX / 2 components. */
static enum walk walk_folder(struct job *job, const char *folder_key)
{
    char cursor[STORE_KEY_MAX] = "";
    enum walk walk = WALK_ON;
    bool more = true;
    while (walk == WALK_ON && more) {
        struct selection selection = {.limit = job->op->list_keys_max + 1 - job->page.count};
        selection.heap = malloc(selection.limit * sizeof(struct candidate));
        assert(selection.heap != NULL);
        int error = select_entries(job, folder_key, cursor, &selection);
        if (error != 0) {
            directory_answer_error(job, STORE_FAILED, "list, with prefix,", error);
            walk = WALK_ERROR;
        } else {
            walk = visit(job, &selection);
        }
        more = selection.more && selection.count > 0;
        if (more)
            memcpy(cursor, selection.heap[selection.count - 1].key, sizeof(cursor));
        free(selection.heap);
    }
    return walk;
}

void directory_list(struct job *job)
{
    const struct store_op *op = job->op;
    char folder_key[STORE_KEY_MAX];
    const char *slash = strrchr(op->key, '/');
    size_t bytes = slash == NULL ? 0 : (size_t)(slash - op->key) + 1;
    memcpy(folder_key, op->key, bytes);
    folder_key[bytes] = '\0';
    job->outcome = STORE_OK;
    if (bytes > 0) {
        folder_key[bytes - 1] = '\0';
        if (directory_key_check(folder_key) != DIRECTORY_KEY_OK)
            return; /* no key starts like that */
        folder_key[bytes - 1] = '/';
    }
    if (walk_folder(job, folder_key) == WALK_ERROR) {
        assert(job->outcome == STORE_FAILED);
        list_page_clear(&job->page);
    }
}
