/* results.c - see results.h. Opening, errors and reading; writing is in results_write.c. */
#include "experiments/results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "build_info.h"
#include "experiments/results/results_private.h"
#include "experiments/results/results_schema.h"

#define SQL_MAX 320

static const char *const error_names[] = {
#define X(code, name) name,
    RESULTS_ERRORS(X)
#undef X
};

const char *results_error_name(enum results_error error)
{
    assert((size_t)error < sizeof(error_names) / sizeof(*error_names));
    return error_names[error];
}

const char *results_mode_name(enum results_mode mode)
{
    switch (mode) {
    case RESULTS_SIM:
        return "sim";
    case RESULTS_LIVE:
        return "live";
    }
    assert(false);
    return "";
}

static enum results_error say(enum results_error error, char *message, const char *path,
                              const char *what, const char *advice)
{
    snprintf(message, RESULTS_MESSAGE_MAX, "%.300s: %s; %s", path, what, advice);
    return error;
}

/* What a SQLite result code means to a person. */
static enum results_error explain(int code, const char *path, const char *detail, char *message)
{
    if (code == SQLITE_READONLY_ROLLBACK)
        return say(RESULTS_READ_ONLY, message, path,
                   "an interrupted write must be undone first, and the file is read-only",
                   "make it and its directory writable, or copy it with its -journal file");
    if (code == SQLITE_IOERR_WRITE)
        return say(RESULTS_FAILED, message, path, "cannot be written",
                   "check its disk and the limit on the size of files (ulimit -f), or use another "
                   "--db");
    switch (code & 0xff) {
    case SQLITE_FULL:
        return say(RESULTS_FULL, message, path,
                   "no space left on its disk (the database is as it was before this run)",
                   "free some space, or use --db on another disk, and start again");
    case SQLITE_READONLY:
        return say(RESULTS_READ_ONLY, message, path,
                   "cannot be written: the file or its directory is read-only",
                   "make both writable (chmod u+w), or write elsewhere with --db");
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
        return say(RESULTS_UNREADABLE, message, path, "cannot be opened",
                   "check the permissions of the file and of its directory");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return say(RESULTS_NOT_A_DATABASE, message, path,
                   "not a results database, or a damaged one",
                   "name another file with --db, or move this one away");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return say(RESULTS_BUSY, message, path, "another process has kept it locked for a minute",
                   "wait for that process to end, and start again");
    default:
        return say(RESULTS_FAILED, message, path, detail, "check its disk, or use another --db");
    }
}

enum results_error results_failure(struct results_db *db, char message[RESULTS_MESSAGE_MAX])
{
    return explain(sqlite3_extended_errcode(db->sqlite), db->path, sqlite3_errmsg(db->sqlite),
                   message);
}

struct sqlite3 *results_connection(struct results_db *db)
{
    return db->sqlite;
}

/* What the file system says before SQLite is asked: its messages are about the cause. */
static enum results_error check_path(const char *path, enum results_access access, char *message)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno != ENOENT)
            return say(RESULTS_UNREADABLE, message, path, strerror(errno),
                       "check the path and the permissions of its directories");
        if (access == RESULTS_READ)
            return say(RESULTS_MISSING, message, path, "no such file",
                       "run an experiment first, or name its database with --db");
        return RESULTS_OK;
    }
    if (S_ISDIR(status.st_mode))
        return say(RESULTS_NOT_A_DATABASE, message, path, "a directory", "name a file with --db");
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return say(RESULTS_UNREADABLE, message, path, strerror(errno),
                   "make it readable (chmod u+r), or name another file with --db");
    close(file);
    return RESULTS_OK;
}

/* For a writer: the directory must allow a new database, and a journal beside one. */
static enum results_error check_directory(const char *path, char *message)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    if (length >= sizeof(directory) || strlen(path) - length > NAME_MAX - strlen("-journal"))
        return say(RESULTS_FAILED, message, path, "the name is too long for a journal beside it",
                   "use a shorter one");
    memcpy(directory, path, length);
    directory[length] = '\0';
    const char *name = slash == NULL ? "." : length == 0 ? "/" : directory;
    struct stat status;
    if (stat(name, &status) != 0 || !S_ISDIR(status.st_mode))
        return say(RESULTS_MISSING, message, path, "its directory does not exist",
                   "make it (mkdir -p), or name another file with --db");
    if (access(name, W_OK | X_OK) != 0)
        return say(RESULTS_READ_ONLY, message, path, "its directory cannot be written",
                   "make it writable (chmod u+w), or name another file with --db");
    return RESULTS_OK;
}

/* One integer; false on an error of SQLite. */
static bool integer(struct results_db *db, const char *sql, int64_t *value)
{
    sqlite3_stmt *statement = NULL;
    bool found = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW;
    if (found)
        *value = sqlite3_column_int64(statement, 0);
    /* After a row finalizing reports success, after a failure it repeats the failure. */
    sqlite3_finalize(statement);
    return found;
}

static enum results_error create_schema(struct results_db *db, char *message)
{
    char header[SQL_MAX];
    snprintf(header, sizeof(header),
             "PRAGMA application_id = %d;"
             "PRAGMA user_version = %d;"
             "INSERT INTO meta VALUES('schema', '%d'), ('program', 'lakestream'), ('about',"
             " 'results of lakestream: the view current_run, metric and series');",
             RESULTS_APPLICATION_ID, RESULTS_SCHEMA, RESULTS_SCHEMA);
    if (sqlite3_exec(db->sqlite, results_schema_sql, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db->sqlite, header, NULL, NULL, NULL) != SQLITE_OK)
        return results_failure(db, message);
    return RESULTS_OK;
}

/* Tells an empty file, ours and a stranger's apart. */
static enum results_error check_schema(struct results_db *db, enum results_access access,
                                       char *message)
{
    int64_t version;
    int64_t application;
    int64_t tables;
    if (!integer(db, "PRAGMA user_version", &version) ||
        !integer(db, "PRAGMA application_id", &application) ||
        !integer(db, "SELECT count(*) FROM sqlite_master", &tables))
        return results_failure(db, message);
    if (application != RESULTS_APPLICATION_ID && (tables > 0 || version != 0))
        return say(RESULTS_NOT_A_DATABASE, message, db->path,
                   "an SQLite database of another program", "name another file with --db");
    if (version > RESULTS_SCHEMA) {
        char what[96];
        snprintf(what, sizeof(what), "has schema %lld, this program knows up to %d",
                 (long long)version, RESULTS_SCHEMA);
        return say(RESULTS_NEWER_SCHEMA, message, db->path, what,
                   "use the newer program that wrote it, or another file with --db");
    }
    if (version == RESULTS_SCHEMA)
        return RESULTS_OK;
    if (access == RESULTS_READ)
        return say(RESULTS_NOT_A_DATABASE, message, db->path, "an empty database",
                   "run an experiment first, or name its database with --db");
    return create_schema(db, message);
}

static enum results_error set_up(struct results_db *db, enum results_access access, char *message)
{
    sqlite3_extended_result_codes(db->sqlite, 1);
    sqlite3_busy_timeout(db->sqlite, RESULTS_BUSY_MS);
    static const char reader[] = "PRAGMA query_only = 1;";
    static const char writer[] = "PRAGMA foreign_keys = 1; PRAGMA synchronous = FULL;"
                                 "PRAGMA journal_mode = DELETE;";
    if (sqlite3_exec(db->sqlite, access == RESULTS_READ ? reader : writer, NULL, NULL, NULL) !=
        SQLITE_OK)
        return results_failure(db, message);
    if (access == RESULTS_READ)
        return check_schema(db, access, message);
    if (sqlite3_db_readonly(db->sqlite, "main") == 1)
        return explain(SQLITE_READONLY, db->path, "", message);
    /* The write lock: two processes that make one file, and a file that cannot be written, show
     * here. */
    if (sqlite3_exec(db->sqlite, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return results_failure(db, message);
    enum results_error error = check_schema(db, access, message);
    if (error == RESULTS_OK && sqlite3_exec(db->sqlite, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        error = results_failure(db, message);
    if (error != RESULTS_OK)
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return error;
}

enum results_error results_open(const char *path, enum results_access access,
                                struct results_db **db, char message[RESULTS_MESSAGE_MAX])
{
    *db = NULL;
    enum results_error error = check_path(path, access, message);
    if (error == RESULTS_OK && access == RESULTS_WRITE)
        error = check_directory(path, message);
    if (error != RESULTS_OK)
        return error;
    struct results_db *opened = calloc(1, sizeof(*opened));
    assert(opened != NULL);
    /* A name that begins with a colon is none to SQLite. */
    size_t room = strlen(path) + sizeof("./");
    opened->path = calloc(room, 1);
    assert(opened->path != NULL);
    snprintf(opened->path, room, "%s%s", path[0] == ':' ? "./" : "", path);
    /* A reader opens for writing where it may: only so an interrupted write can be undone. */
    int flags = SQLITE_OPEN_READWRITE | (access == RESULTS_WRITE ? SQLITE_OPEN_CREATE : 0);
    int code = sqlite3_open_v2(opened->path, &opened->sqlite, flags, NULL);
    assert(opened->sqlite != NULL);
    error = code == SQLITE_OK ? set_up(opened, access, message) : results_failure(opened, message);
    if (error != RESULTS_OK) {
        results_close(opened);
        return error;
    }
    *db = opened;
    return RESULTS_OK;
}

void results_close(struct results_db *db)
{
    if (db == NULL)
        return;
    int code = sqlite3_close(db->sqlite);
    assert(code == SQLITE_OK);
    free(db->path);
    free(db);
}

void results_config_hash(const char *effective_config, char hash[RESULTS_HASH_MAX])
{
    XXH128_hash_t value =
        XXH3_128bits_withSeed(effective_config, strlen(effective_config),
                              XXH3_64bits(LAKESTREAM_MODEL, strlen(LAKESTREAM_MODEL)));
    snprintf(hash, RESULTS_HASH_MAX, "%016llx%016llx", (unsigned long long)value.high64,
             (unsigned long long)value.low64);
}

/* The first "model name" of /proc/cpuinfo; empty where there is none. */
static void cpu_model(char *model, size_t capacity)
{
    model[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return;
    char line[256];
    while (model[0] == '\0' && fgets(line, sizeof(line), file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "model name", 10) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(model, capacity, "%s", colon + 1 + strspn(colon + 1, " "));
        }
    }
    fclose(file);
}

void results_machine_text(char text[RESULTS_MACHINE_MAX])
{
    char host[65] = "?";
    char model[128];
    if (gethostname(host, sizeof(host) - 1) != 0)
        snprintf(host, sizeof(host), "?");
    cpu_model(model, sizeof(model));
    snprintf(text, RESULTS_MACHINE_MAX, "%s, %s, %ld cores", host,
             model[0] != '\0' ? model : "unknown CPU", sysconf(_SC_NPROCESSORS_ONLN));
}
