/* live_fixture.c - see live_fixture.h. Processes call the verbs' own main functions. */
#include "tests/experiments/live_fixture.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/results/query.h"
#include "experiments/verbs.h"

void live_pause(int ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L};
    nanosleep(&time, NULL);
}

void live_scratch_make(char path[SCRATCH_MAX])
{
    scratch_make(path);
    int failed = chmod(path, 0777);
    assert(failed == 0);
}

void live_path(char path[LIVE_PATH_MAX], const char *scratch, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(path, LIVE_PATH_MAX, "%s/", scratch);
    va_start(arguments, format);
    int written = vsnprintf(path + used, (size_t)(LIVE_PATH_MAX - used), format, arguments);
    va_end(arguments);
    assert(written > 0 && written < LIVE_PATH_MAX - used);
}

void live_write_config(const char *scratch, int producers, int duration_ms, const char *more)
{
    char path[LIVE_PATH_MAX];
    live_path(path, scratch, "config.yaml");
    FILE *file = fopen(path, "w");
    assert(file != NULL);
    /* Written out, so that no profile is looked for beyond the project's own. */
    fprintf(file,
            "name: probe\nseeds: 1\n"
            "workload: {producers: %d, rate: 640KiB/s, tgb: 16KiB}\n"
            "run: {duration: %dms, warmup: 0s, bin: 100ms}\n"
            "commit: {first_gap: 100ms, retry: 5ms, retry_max: 200ms}\n"
            "policy: {name: fixed, fixed.gap: 100ms}\n"
            "live: {store: \"file://%s/store\", workers: 2}\n%s",
            producers, duration_ms, scratch, more);
    fclose(file);
}

static int call_verb(int argc, char **argv)
{
    if (strcmp(argv[0], "consume") == 0)
        return consume_main(argc, argv);
    if (strcmp(argv[0], "gc") == 0)
        return gc_main(argc, argv);
    if (strcmp(argv[0], "live") == 0)
        return live_main(argc, argv);
    if (strcmp(argv[0], "inspect") == 0)
        return inspect_main(argc, argv);
    if (strcmp(argv[0], "remove") == 0)
        return remove_main(argc, argv);
    if (strcmp(argv[0], "produce") == 0)
        return produce_main(argc, argv);
    if (strcmp(argv[0], "swarm") == 0)
        return swarm_main(argc, argv);
    if (strcmp(argv[0], "probe") == 0)
        return probe_main(argc, argv);
    return query_main(argc, argv);
}

static void redirect(const char *path, int fd)
{
    int opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert(opened >= 0);
    dup2(opened, fd);
    close(opened);
}

void live_process_start(struct live_process *process, const struct live_process_options *options)
{
    char *argv[LIVE_ARGUMENTS_MAX + 1] = {NULL};
    int argc = 0;
    while (argc < LIVE_ARGUMENTS_MAX && options->arguments[argc] != NULL) {
        argv[argc] = strdup(options->arguments[argc]);
        argc++;
    }
    live_path(process->out, options->scratch, "%s.out", options->name);
    live_path(process->err, options->scratch, "%s.err", options->name);
    fflush(NULL);
    process->pid = fork();
    assert(process->pid >= 0);
    if (process->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed assert must not leave it behind */
        setpgid(0, 0);
        redirect(process->out, STDOUT_FILENO);
        redirect(process->err, STDERR_FILENO);
        if (options->user != 0) {
            int failed = setgroups(0, NULL) + setgid(options->user) + setuid(options->user);
            assert(failed == 0);
        }
        if (options->program != NULL) {
            char *all[LIVE_ARGUMENTS_MAX + 2] = {(char *)(uintptr_t)options->program};
            memcpy(all + 1, argv, sizeof(argv));
            execv(options->program, all);
            _exit(127);
        }
        int status = call_verb(argc, argv);
        fflush(NULL);
        _exit(status);
    }
    setpgid(process->pid, process->pid);
    while (argc > 0)
        free(argv[--argc]);
}

int live_process_wait(struct live_process *process, int limit_s)
{
    int status = 0;
    for (int i = 0; i < limit_s * 50; i++) {
        pid_t reaped = waitpid(process->pid, &status, WNOHANG);
        assert(reaped >= 0);
        if (reaped == process->pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        live_pause(20);
    }
    kill(-process->pid, SIGKILL);
    waitpid(process->pid, &status, 0);
    return -1;
}

int live_process_run(struct live_process *process, const struct live_process_options *options)
{
    live_process_start(process, options);
    return live_process_wait(process, 60);
}

char *live_read(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    FILE *file = fopen(path, "r");
    assert(memory != NULL);
    char part[4096];
    size_t got;
    while (file != NULL && (got = fread(part, 1, sizeof(part), file)) > 0)
        fwrite(part, 1, got, memory);
    if (file != NULL)
        fclose(file);
    fclose(memory);
    return text;
}

int live_count_in(const char *path, const char *text)
{
    char *all = live_read(path);
    int count = 0;
    for (const char *at = strstr(all, text); at != NULL; at = strstr(at + 1, text))
        count++;
    free(all);
    return count;
}

bool live_wait_for(const char *path, const char *text, int count, int limit_s)
{
    for (int i = 0; i < limit_s * 50; i++) {
        if (live_count_in(path, text) >= count)
            return true;
        live_pause(20);
    }
    return false;
}

int live_children_of(pid_t pid, pid_t *children, int max)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    char *text = live_read(path);
    int count = 0;
    char *at = text;
    for (;;) {
        char *end;
        long child = strtol(at, &end, 10);
        if (end == at || count == max)
            break;
        children[count++] = (pid_t)child;
        at = end;
    }
    free(text);
    return count;
}

bool live_run_url(const char *scratch, const char *arm, char url[LIVE_PATH_MAX])
{
    char path[LIVE_PATH_MAX];
    live_path(path, scratch, "store/probe/%s", arm);
    DIR *dir = opendir(path);
    int count = 0;
    for (const struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL;
         entry = readdir(dir)) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        snprintf(url, LIVE_PATH_MAX, "file://%s/store/probe/%s/%.100s", scratch, arm,
                 entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
    return count == 1;
}

bool live_find_file(const char *folder, const char *ending, char path[LIVE_PATH_MAX])
{
    DIR *dir = opendir(folder);
    bool found = false;
    for (const struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL && !found;
         entry = readdir(dir)) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        live_path(path, folder, "%s", entry->d_name);
        char below[LIVE_PATH_MAX];
        memcpy(below, path, sizeof(below));
        found = length >= strlen(ending) &&
                strcmp(entry->d_name + length - strlen(ending), ending) == 0;
        if (!found && entry->d_type == DT_DIR)
            found = live_find_file(below, ending, path);
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

json_t *live_inspect(const char *scratch, const char *url, const char *flag, int *status)
{
    struct live_process process;
    struct live_process_options options = {
        .scratch = scratch,
        .name = "inspect",
        .arguments = {"inspect", url, "--json", "--versions", "1000000", flag},
    };
    *status = live_process_run(&process, &options);
    return json_load_file(process.out, 0, NULL);
}

long long live_number(const json_t *report, const char *key, const char *member)
{
    const json_t *value = json_object_get(report, key);
    if (member != NULL)
        value = json_object_get(value, member);
    return json_is_integer(value) ? (long long)json_integer_value(value) : -1;
}

bool live_all_committed(const char *scratch, const char *url, int producers)
{
    int status;
    int committed = 0;
    json_t *report = live_inspect(scratch, url, NULL, &status);
    const json_t *streams = json_object_get(report, "producers");
    for (size_t i = 0; i < json_array_size(streams); i++)
        committed += live_number(json_array_get(streams, i), "sequence", NULL) > 0;
    json_decref(report);
    return committed == producers;
}

/* The first column of the only row. */
static double select_one(const char *scratch, const char *sql, const char *argument)
{
    char path[LIVE_PATH_MAX];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    double value = (double)NAN;
    live_path(path, scratch, "results.db");
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        (argument == NULL ||
         sqlite3_bind_text(statement, 1, argument, -1, SQLITE_STATIC) == SQLITE_OK) &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

int live_rows(const char *scratch)
{
    double rows = select_one(scratch, "SELECT count(*) FROM run WHERE mode = 'live'", NULL);
    return isnan(rows) ? 0 : (int)rows;
}

double live_metric(const char *scratch, const char *name)
{
    return select_one(scratch, "SELECT value FROM metric WHERE name = ?", name);
}
