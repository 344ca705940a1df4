/* directory_folder.c - making folders, and making names durable.
 *
 * Method: a name is durable once the folder that holds it was synced, and so on up to the root
 * (POSIX promises no less work, though ext4 and xfs need less). A folder found in place may have
 * been made a moment ago by a process that has not synced it yet, so that finding it proves
 * nothing: the chain is synced once per process and folder, and remembered by path and identity.
 * Ours. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/directory_private.h"

int directory_sync_fd(const struct directory *directory, int fd)
{
    if (directory->options.sync == DIRECTORY_NO_SYNC)
        return 0;
    int failure;
    do {
        failure = fsync(fd);
    } while (failure != 0 && errno == EINTR);
    return failure == 0 ? 0 : errno;
}

const char *directory_leaf(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* "a+/b+/c" -> "a+/b+"; "c" -> ".". */
static void folder_of(const char *path, char folder[DIRECTORY_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t bytes = slash == NULL ? 1 : (size_t)(slash - path);
    assert(bytes < DIRECTORY_PATH_MAX);
    memcpy(folder, slash == NULL ? "." : path, bytes);
    folder[bytes] = '\0';
}

static int open_folder(const struct directory *directory, const char *folder)
{
    return openat(directory->root_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int sync_folder(const struct directory *directory, const char *folder)
{
    if (directory->options.sync == DIRECTORY_NO_SYNC)
        return 0;
    int fd = open_folder(directory, folder);
    if (fd < 0)
        return errno;
    int error = directory_sync_fd(directory, fd);
    close(fd);
    return error;
}

int directory_sync_folder_of(const struct directory *directory, const char *path)
{
    char folder[DIRECTORY_PATH_MAX];
    folder_of(path, folder);
    int error = sync_folder(directory, folder);
    while (error == ENOENT && strcmp(folder, ".") != 0) { /* emptied and removed by another */
        char above[DIRECTORY_PATH_MAX];
        folder_of(folder, above);
        error = sync_folder(directory, above);
        memcpy(folder, above, sizeof(folder));
    }
    return error;
}

/* Those at the top are few, and soon needed again. It need not be durable. */
void directory_folder_tidy(const struct directory *directory, const char *path)
{
    char folder[DIRECTORY_PATH_MAX];
    folder_of(path, folder);
    if (strchr(folder, '/') != NULL)
        (void)unlinkat(directory->root_fd, folder, AT_REMOVEDIR);
}

static int make_folders(const struct directory *directory, const char *folder)
{
    char above[DIRECTORY_PATH_MAX];
    for (const char *end = strchr(folder, '/');; end = strchr(end + 1, '/')) {
        size_t bytes = end == NULL ? strlen(folder) : (size_t)(end - folder);
        memcpy(above, folder, bytes);
        above[bytes] = '\0';
        if (mkdirat(directory->root_fd, above, 0777) != 0 && errno != EEXIST)
            return errno;
        if (end == NULL)
            return 0;
    }
}

/* ---- which folders are known to be durable ---- */

static struct durable_folder *durable_slot(struct directory *directory, const char *folder)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *at = folder; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    return &directory->durable[(hash ^ hash >> 32) % DURABLE_FOLDERS];
}

static int identify(int folder_fd, struct folder_identity *identity)
{
    struct statx status;
    if (statx(folder_fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) != 0)
        return errno;
    *identity = (struct folder_identity){.inode = status.stx_ino};
    if ((status.stx_mask & STATX_BTIME) != 0)
        identity->born_ns = (int64_t)status.stx_btime.tv_sec * NS_PER_S + status.stx_btime.tv_nsec;
    return 0;
}

static bool durable_known(struct directory *directory, const char *folder,
                          const struct folder_identity *identity)
{
    pthread_mutex_lock(&directory->durable_mutex);
    const struct durable_folder *slot = durable_slot(directory, folder);
    bool known = slot->identity.inode == identity->inode &&
                 slot->identity.born_ns == identity->born_ns && strcmp(slot->path, folder) == 0;
    pthread_mutex_unlock(&directory->durable_mutex);
    return known;
}

static void durable_remember(struct directory *directory, const char *folder,
                             const struct folder_identity *identity)
{
    pthread_mutex_lock(&directory->durable_mutex);
    struct durable_folder *slot = durable_slot(directory, folder);
    slot->identity = *identity;
    memcpy(slot->path, folder, strlen(folder) + 1);
    pthread_mutex_unlock(&directory->durable_mutex);
}

static int sync_chain_above(struct directory *directory, const char *folder, int folder_fd)
{
    if (directory->options.sync == DIRECTORY_NO_SYNC || strcmp(folder, ".") == 0)
        return 0;
    struct folder_identity identity;
    int unidentified = identify(folder_fd, &identity);
    if (unidentified != 0)
        return unidentified;
    if (durable_known(directory, folder, &identity))
        return 0;
    char above[DIRECTORY_PATH_MAX];
    memcpy(above, folder, strlen(folder) + 1);
    do {
        char next[DIRECTORY_PATH_MAX];
        folder_of(above, next);
        int error = sync_folder(directory, next);
        if (error != 0)
            return error;
        memcpy(above, next, sizeof(above));
    } while (strcmp(above, ".") != 0);
    durable_remember(directory, folder, &identity);
    return 0;
}

int directory_folder_open(struct job *job, int *folder_fd, const char **action)
{
    struct directory *directory = job->directory;
    char folder[DIRECTORY_PATH_MAX];
    folder_of(job->path, folder);
    *action = "make the folder of";
    int fd = open_folder(directory, folder);
    for (int tries = 1; fd < 0; tries++) {
        int error = errno == ENOENT ? make_folders(directory, folder) : errno;
        if (error != 0 && error != ENOENT)
            return error;
        fd = open_folder(directory, folder);
        if (fd < 0 && tries == FOLDER_TRIES_MAX)
            return errno;
    }
    int error = directory_step_done(directory, DIRECTORY_STEP_FOLDERS_MADE);
    if (error == 0) {
        *action = "sync the folders of";
        error = sync_chain_above(directory, folder, fd);
    }
    if (error == 0)
        error = directory_step_done(directory, DIRECTORY_STEP_FOLDERS_SYNCED);
    if (error != 0) {
        close(fd);
        return error;
    }
    *folder_fd = fd;
    return 0;
}
