/* s3_secrets_test.c - whatever a store answers, no secret is told: not in what is printed, not in
 * the database, not in the arguments that other users of the machine can see. The program itself
 * runs, against a server that refuses in many ways, and gives away what it was sent. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"
#include "tests/hostile/hostile_server.h"

#define TOKEN "recognizable-session-token/0123456789+abcdef=="
#define LIMIT_MS 60000
#define PAUSE_MS 10
#define SIGNATURE_BYTES 64

static void set_environment(void)
{
    setenv("AWS_ACCESS_KEY_ID", HOSTILE_ACCESS_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", HOSTILE_SECRET_KEY, 1);
    setenv("AWS_SESSION_TOKEN", TOKEN, 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    setenv("AWS_REGION", "us-east-1", 1);
}

static bool has_bytes(const char *path, const char *needle)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    char *text = NULL;
    size_t capacity = 0;
    ssize_t bytes = getdelim(&text, &capacity, EOF, file);
    bool found = bytes > 0 && memmem(text, (size_t)bytes, needle, strlen(needle)) != NULL;
    free(text);
    fclose(file);
    return found;
}

/* ---- running the program ---- */

/* Everybody may read it. */
static void look_at_arguments(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    CU_ASSERT_FALSE(has_bytes(path, HOSTILE_SECRET_KEY));
    CU_ASSERT_FALSE(has_bytes(path, TOKEN));
}

static pid_t start(const char *scratch, const char *name, char *const argv[])
{
    char out[LIVE_PATH_MAX];
    live_path(out, scratch, "%s.out", name);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        execv(argv[0], argv);
        _exit(127);
    }
    return pid;
}

/* Looks at the arguments of the process and its producers until it ends; its status. */
static int watch(pid_t pid)
{
    int status = 0;
    for (int ms = 0; ms < LIMIT_MS; ms += PAUSE_MS) {
        pid_t children[32];
        look_at_arguments(pid);
        int count = live_children_of(pid, children, (int)HARNESS_COUNT(children));
        for (int i = 0; i < count; i++)
            look_at_arguments(children[i]);
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        live_pause(PAUSE_MS);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
}

static int run(const char *scratch, const char *endpoint, const char *verb)
{
    char *program = getenv("LAKESTREAM");
    char config[LIVE_PATH_MAX], database[LIVE_PATH_MAX];
    live_path(config, scratch, "config.yaml");
    live_path(database, scratch, "results.db");
    bool live = strcmp(verb, "live") == 0;
    char *const of_live[] = {program,
                             (char *)(uintptr_t)verb,
                             config,
                             "--store",
                             "s3://bucket/run",
                             "--db",
                             database,
                             "--endpoint",
                             (char *)(uintptr_t)endpoint,
                             NULL};
    char *const others[] = {program,      (char *)(uintptr_t)verb,     "s3://bucket/run",
                            "--endpoint", (char *)(uintptr_t)endpoint, NULL};
    return watch(start(scratch, verb, live ? of_live : others));
}

/* ---- looking for what must not be there ---- */

static void look_everywhere(const char *scratch, const char *needle)
{
    DIR *folder = opendir(scratch);
    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[LIVE_PATH_MAX];
        live_path(path, scratch, "%.200s", entry->d_name);
        bool found = has_bytes(path, needle);
        CU_ASSERT_FALSE(found);
        if (found)
            fprintf(stderr, "%s is told in %s\n", needle, entry->d_name);
    }
    closedir(folder);
}

static void look_for_secrets(const char *scratch, struct hostile_server *server)
{
    struct hostile_request *request = malloc(sizeof(*request));
    look_everywhere(scratch, HOSTILE_SECRET_KEY);
    look_everywhere(scratch, TOKEN);
    size_t signatures = 0;
    for (size_t i = 0; i < 40 && hostile_server_request(server, i, request); i++) {
        char authorization[1024];
        if (!hostile_request_header(request, "authorization", authorization, sizeof(authorization)))
            continue;
        const char *signature = strstr(authorization, "Signature=");
        CU_ASSERT_PTR_NOT_NULL_FATAL(signature);
        char whole[SIGNATURE_BYTES + 1];
        snprintf(whole, sizeof(whole), "%.20s", signature + strlen("Signature="));
        look_everywhere(scratch, whole); /* a part of one is too much */
        signatures++;
    }
    CU_ASSERT_TRUE(signatures > 0);
    free(request);
}

/* 0: the verb must succeed; 1: it must fail, and say something. */
static void try_all(const struct hostile_rule *rule, int expected)
{
    static const char *const verbs[] = {"probe", "live", "inspect"};
    char scratch[SCRATCH_MAX], out[LIVE_PATH_MAX];
    if (getenv("LAKESTREAM") == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program; make sets it");
    set_environment();
    live_scratch_make(scratch);
    live_write_config(scratch, 2, 300, "");
    struct hostile_server *server =
        hostile_server_start(&(struct hostile_options){.session_token = TOKEN});
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    if (rule != NULL)
        hostile_server_rule(server, rule);
    for (size_t i = 0; i < HARNESS_COUNT(verbs); i++) {
        int status = run(scratch, hostile_server_url(server), verbs[i]);
        live_path(out, scratch, "%s.out", verbs[i]);
        char *text = live_read(out);
        /* There is no run where nothing could be committed. */
        CU_ASSERT_TRUE(status == expected || (status == 1 && strcmp(verbs[i], "inspect") == 0));
        CU_ASSERT_TRUE(strlen(text) > 10);
        if (status != expected)
            fprintf(stderr, "%s: %d: %s\n", verbs[i], status, text);
        free(text);
    }
    look_for_secrets(scratch, server);
    hostile_server_stop(server);
    unsetenv("AWS_SESSION_TOKEN");
    scratch_remove(scratch);
}

static void success_tells_no_secret(void)
{
    try_all(NULL, 0);
}

/* Refusals of all kinds, each of which gives away what it was sent. */
static void refusals_tell_no_secret(void)
{
    static const struct {
        int status;
        const char *code;
    } refusals[] = {
        {403, "SignatureDoesNotMatch"}, {403, "AccessDenied"},    {400, "ExpiredToken"},
        {400, "InvalidToken"},          {400, "InvalidArgument"}, {501, "NotImplemented"},
        {418, "SomethingNew"},          {404, "NoSuchBucket"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(refusals); i++)
        try_all(&(struct hostile_rule){.apply = HOSTILE_APPLY_NOT,
                                       .reply = HOSTILE_ECHO,
                                       .status = refusals[i].status,
                                       .body = refusals[i].code},
                1);
}

/* A redirect whose address holds the token, to a port on which nobody listens to S3. */
static void redirects_tell_no_secret(void)
{
    try_all(&(struct hostile_rule){.apply = HOSTILE_APPLY_NOT,
                                   .reply = HOSTILE_ECHO,
                                   .status = 301,
                                   .body = "PermanentRedirect"},
            1);
    try_all(&(struct hostile_rule){.apply = HOSTILE_APPLY_NOT,
                                   .reply = HOSTILE_SAY,
                                   .status = 307,
                                   .headers = "Location: ftp://me:" HOSTILE_SECRET_KEY
                                              "@127.0.0.1/?X-Amz-Security-Token=" TOKEN "\r\n"},
            1);
}

const struct harness_test s3_secrets_tests[] = {
    HARNESS_TEST(success_tells_no_secret),
    HARNESS_TEST(refusals_tell_no_secret),
    HARNESS_TEST(redirects_tell_no_secret),
    {0},
};
