/* job_lock.c - see job_lock.h. Who finds nobody has the lock alone for a moment, writes the word,
 * and then shares it; the others share it, and read whose it is. A word changes only while nobody
 * shares the lock: the first that shares it under its own word has won for all with that word. That
 * the lock is let go of between alone and shared does no harm: a word that is then another's is
 * another start's, and is tried again until the wait is over. Ours. */
#include "experiments/consume/job_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "experiments/live/live_marker.h"
#include "experiments/trials/progress.h"

#define FILE_NAME "job.lock"
#define PAUSE_MS 20
#define TELL_NS (300 * NS_PER_MS) /* of waiting: who only looks has it for less */
#define HOLDER_MAX 256            /* "WORD PID HOST", with a NUL */
#define HOST_MAX 65

enum lock_try {
    LOCK_TRY_TAKEN,
    LOCK_TRY_OTHER, /* another start has it; `holder` says which */
    LOCK_TRY_BUSY,  /* somebody looks at it at this moment */
    LOCK_TRY_FAILED,
};

struct attempts {
    const struct job_lock_options *options;
    char path[PATH_MAX];
    char holder[HOLDER_MAX];
    char *error;
};

static enum lock_try fail(const struct attempts *attempts, const char *what)
{
    snprintf(attempts->error, JOB_LOCK_TEXT_MAX,
             "checkpoints: cannot %s %.400s: %s; choose a folder on a file system with locks, that "
             "may be written to",
             what, attempts->path, strerror(errno));
    return LOCK_TRY_FAILED;
}

/* ---- whose it is ---- */

static bool write_holder(int fd, const char *word)
{
    char text[HOLDER_MAX];
    char host[HOST_MAX] = "";
    (void)gethostname(host, sizeof(host) - 1);
    int chars = snprintf(text, sizeof(text), "%s %ld %s", word, (long)getpid(), host);
    assert(chars > 0 && chars < HOLDER_MAX);
    return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)chars, 0) == chars;
}

static bool read_holder(int fd, char text[HOLDER_MAX])
{
    char found[HOLDER_MAX];
    ssize_t bytes = pread(fd, found, sizeof(found) - 1, 0);
    found[bytes > 0 ? bytes : 0] = '\0';
    live_marker_copy_harmless(text, HOLDER_MAX, found);
    return bytes >= 0;
}

static bool has_word(const char *holder, const char *word)
{
    size_t bytes = strlen(word);
    return strncmp(holder, word, bytes) == 0 && holder[bytes] == ' ';
}

/* "process PID on HOST", as far as it is known. */
static const char *process_of(const char *holder, char text[HOLDER_MAX])
{
    const char *pid = strchr(holder, ' ');
    const char *host = pid != NULL ? strchr(pid + 1, ' ') : NULL;
    if (host == NULL)
        return "an unknown process";
    snprintf(text, HOLDER_MAX, "process %.*s on %s", (int)(host - pid - 1), pid + 1, host + 1);
    return text;
}

/* ---- locking ---- */

/* The file may have been deleted, and made again: each attempt opens it. */
static enum lock_try lock_shared(struct attempts *attempts, int fd)
{
    const char *word = attempts->options->word;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (!write_holder(fd, word))
            return fail(attempts, "write");
    } else if (errno != EWOULDBLOCK) {
        return fail(attempts, "lock");
    }
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? LOCK_TRY_BUSY : fail(attempts, "lock");
    if (!read_holder(fd, attempts->holder))
        return fail(attempts, "read");
    return has_word(attempts->holder, word) ? LOCK_TRY_TAKEN : LOCK_TRY_OTHER;
}

static enum lock_try try_once(struct attempts *attempts, struct job_lock *lock)
{
    lock->fd = open(attempts->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock->fd < 0)
        return fail(attempts, "make");
    enum lock_try attempt = lock_shared(attempts, lock->fd);
    if (attempt != LOCK_TRY_TAKEN)
        job_lock_close(lock);
    return attempt;
}

static void tell_of_waiting(const struct attempts *attempts, struct job_lock *lock)
{
    char process[HOLDER_MAX];
    const struct job_lock_options *options = attempts->options;
    lock->waited = true;
    if (options->messages == NULL)
        return;
    fprintf(options->messages,
            "lakestream: another start of this job runs (%s), and has the lock %s: this one waits "
            "for its end, up to %lld s\n",
            process_of(attempts->holder, process), attempts->path,
            (long long)(options->wait_ns / NS_PER_S));
    fflush(options->messages);
}

bool job_lock_take(const struct job_lock_options *options, struct job_lock *lock,
                   char error[JOB_LOCK_TEXT_MAX])
{
    struct attempts attempts = {.options = options, .error = error};
    char process[HOLDER_MAX];
    const int64_t begun_ns = progress_now_ns();
    assert(strchr(options->word, ' ') == NULL && strlen(options->word) < JOB_LOCK_WORD_MAX);
    *lock = (struct job_lock){.fd = -1};
    snprintf(attempts.path, sizeof(attempts.path), "%s/" FILE_NAME, options->folder);
    do {
        switch (try_once(&attempts, lock)) {
        case LOCK_TRY_TAKEN:
            return true;
        case LOCK_TRY_FAILED:
            return false;
        case LOCK_TRY_OTHER:
            if (!lock->waited && progress_now_ns() - begun_ns >= TELL_NS)
                tell_of_waiting(&attempts, lock);
            break;
        case LOCK_TRY_BUSY:
            break;
        }
        (void)poll(NULL, 0, PAUSE_MS);
    } while (progress_now_ns() - begun_ns < options->wait_ns);
    snprintf(error, JOB_LOCK_TEXT_MAX,
             "another start of this job runs: its lock %.300s was first taken by %.200s, and is "
             "held by that process or by another of that start; end them, or let them go on; if "
             "they are lost and cannot be ended, delete that file",
             attempts.path, process_of(attempts.holder, process));
    return false;
}

void job_lock_close(struct job_lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}
