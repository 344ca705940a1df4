/* directory_temp.c - names of unfinished files, and who may remove them.
 *
 * Method: a name says host, boot, process namespace and process. A file is abandoned if its host is
 * this one and either it was booted since, or the process is in this namespace and gone; all others
 * are left to the host that knows. A wrong guess (two hosts of one name, a process number used
 * again) costs a failed write or a file that stays, never an object: a write whose file was removed
 * cannot be linked. Ours. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/directory_private.h"

#define FIELD_PARTS 5

static void read_boot(char boot[TEMP_BOOT_MAX])
{
    memcpy(boot, "-", 2);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t bytes = read(fd, boot, TEMP_BOOT_MAX - 1);
    close(fd);
    boot[bytes > 0 ? bytes : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    if (boot[0] == '\0')
        memcpy(boot, "-", 2);
}

void temp_owner_self(struct temp_owner *owner)
{
    char host[TEMP_HOST_MAX] = {0};
    if (gethostname(host, sizeof(host) - 1) != 0)
        memcpy(host, "unknown", 8);
    *owner = (struct temp_owner){.pid = getpid()};
    memcpy(owner->host, host, sizeof(host));
    for (char *at = owner->host; *at != '\0'; at++)
        if (strchr(".,/+", *at) != NULL) /* a comma parts the fields */
            *at = '_';
    read_boot(owner->boot);
    struct stat status;
    if (stat("/proc/self/ns/pid", &status) == 0)
        owner->pid_namespace = (uint64_t)status.st_ino;
}

void directory_temp_name(struct directory *directory, char name[TEMP_NAME_MAX])
{
    const struct temp_owner *owner = &directory->owner;
    uint64_t count = atomic_fetch_add(&directory->temp_count, 1);
    int written = snprintf(name, TEMP_NAME_MAX, "%s,%s,%" PRIu64 ",%d,%" PRIu64, owner->host,
                           owner->boot, owner->pid_namespace, owner->pid, count);
    assert(written > 0 && written < TEMP_NAME_MAX);
}

static bool parse_number(const char *text, size_t bytes, uint64_t *number)
{
    *number = 0;
    if (bytes == 0 || bytes > 19)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

static bool equal(const char *part, size_t bytes, const char *text)
{
    return strlen(text) == bytes && memcmp(part, text, bytes) == 0;
}

static bool owner_is_dead(const struct temp_owner *self, const char *name)
{
    const char *part[FIELD_PARTS];
    size_t bytes[FIELD_PARTS];
    for (int i = 0; i < FIELD_PARTS; i++) {
        part[i] = name;
        bytes[i] = strcspn(name, ",");
        name += bytes[i];
        if ((*name == '\0') != (i == FIELD_PARTS - 1))
            return false; /* not one of ours */
        name++;
    }
    uint64_t pid_namespace, pid;
    if (!parse_number(part[2], bytes[2], &pid_namespace) ||
        !parse_number(part[3], bytes[3], &pid) || pid == 0 || pid > INT32_MAX)
        return false;
    if (!equal(part[0], bytes[0], self->host) || strcmp(self->boot, "-") == 0 ||
        equal(part[1], bytes[1], "-"))
        return false;
    if (!equal(part[1], bytes[1], self->boot))
        return true; /* booted since */
    return pid_namespace != 0 && pid_namespace == self->pid_namespace && kill((pid_t)pid, 0) != 0 &&
           errno == ESRCH;
}

static bool is_old(const struct directory *directory, const char *name, int64_t now_ns)
{
    struct stat status;
    if (fstatat(directory->temp_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    int64_t age_ns = directory->options.temp_age_ns;
    if (age_ns == 0)
        age_ns = DIRECTORY_TEMP_AGE_NS;
    int64_t written_ns = (int64_t)status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec;
    return age_ns < 0 || now_ns - written_ns > age_ns;
}

uint32_t directory_temp_sweep(struct directory *directory, int64_t now_ns)
{
    int fd = openat(directory->temp_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    uint32_t swept = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (owner_is_dead(&directory->owner, entry->d_name) &&
            is_old(directory, entry->d_name, now_ns) &&
            unlinkat(directory->temp_fd, entry->d_name, 0) == 0)
            swept++;
    closedir(folder);
    return swept;
}
