/* fixture.c - stores, whole bodies and children for the tests of the backend. */
#include "tests/backend/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/random.h"

#define WHOLE_HEADER 24

/* ---- one operation at a time ---- */

void fixture_open(struct fixture *fixture, const char *path,
                  const struct directory_options *options)
{
    char error[STORE_ERROR_MAX] = "";
    *fixture = (struct fixture){0};
    enum open_result result = live_loop_open(NULL, &fixture->loop, error);
    assert(result == OPEN_OK);
    result = directory_store_open(path, options, fixture->loop, &fixture->store, error);
    if (result != OPEN_OK)
        fprintf(stderr, "%s\n", error);
    assert(result == OPEN_OK);
}

void fixture_close(struct fixture *fixture)
{
    store_close(fixture->store);
    live_loop_close(fixture->loop);
}

static void on_done(struct store_op *op, void *context)
{
    (void)op;
    *(bool *)context = true;
}

static void run_op(struct fixture *fixture, struct store_op *op)
{
    bool done = false;
    op->done = on_done;
    op->context = &done;
    store_submit(fixture->store, op);
    loop_run(live_loop_base(fixture->loop), TIME_NEVER);
    assert(done);
}

static void op_init(struct store_op *op, enum store_verb verb, const char *key)
{
    store_op_init(op);
    op->verb = verb;
    int written = snprintf(op->key, STORE_KEY_MAX, "%s", key);
    assert(written >= 0 && written < STORE_KEY_MAX);
}

static enum store_outcome finish(struct store_op *op, char error[STORE_ERROR_MAX])
{
    enum store_outcome outcome = op->outcome;
    bool has_text = op->error[0] != '\0';
    assert(has_text == (outcome == STORE_FAILED || outcome == STORE_UNKNOWN));
    if (error != NULL)
        memcpy(error, op->error, STORE_ERROR_MAX);
    store_op_deinit(op);
    return outcome;
}

enum store_outcome fixture_put(struct fixture *fixture, enum store_verb verb, const char *key,
                               struct body body, char error[STORE_ERROR_MAX])
{
    struct store_op op;
    op_init(&op, verb, key);
    op.body = body;
    run_op(fixture, &op);
    return finish(&op, error);
}

enum store_outcome fixture_get(struct fixture *fixture, const char *key, struct body *body,
                               char error[STORE_ERROR_MAX])
{
    struct store_op op;
    op_init(&op, STORE_GET, key);
    op.bound.bytes_max = FIXTURE_BYTES_MAX;
    run_op(fixture, &op);
    *body = op.result;
    op.result = (struct body){.kind = BODY_NONE};
    return finish(&op, error);
}

enum store_outcome fixture_delete(struct fixture *fixture, const char *key)
{
    struct store_op op;
    op_init(&op, STORE_DELETE, key);
    run_op(fixture, &op);
    return finish(&op, NULL);
}

void fixture_list(struct fixture *fixture, const char *prefix,
                  void (*visit)(const char *key, void *context), void *context)
{
    struct store_op op;
    op_init(&op, STORE_LIST, prefix);
    op.list_keys_max = STORE_LIST_KEYS_MAX;
    bool more = true;
    while (more) {
        run_op(fixture, &op);
        assert(op.outcome == STORE_OK);
        more = op.page.truncated;
        for (size_t i = 0; i < op.page.count; i++)
            visit(list_page_key(&op.page, i), context);
        if (more)
            snprintf(op.after, STORE_KEY_MAX, "%s", list_page_key(&op.page, op.page.count - 1));
        store_op_release(&op);
    }
    store_op_deinit(&op);
}

/* ---- bodies ---- */

struct body whole_body_make(uint64_t id, uint64_t bytes)
{
    assert(id != 0);
    assert(bytes >= WHOLE_HEADER);
    struct body body = {.kind = BODY_BYTES, .bytes = bytes, .data = malloc(bytes)};
    assert(body.data != NULL);
    memcpy(body.data + 8, &id, 8);
    memcpy(body.data + 16, &bytes, 8);
    struct random_stream stream = random_stream_make(id, 0);
    for (uint64_t i = WHOLE_HEADER; i < bytes; i++)
        body.data[i] = (uint8_t)random_next(&stream);
    uint64_t checksum = XXH3_64bits(body.data + 8, bytes - 8);
    memcpy(body.data, &checksum, 8);
    return body;
}

uint64_t whole_body_id(const struct body *body)
{
    if (body->kind != BODY_BYTES || body->bytes < WHOLE_HEADER)
        return 0;
    uint64_t checksum, id, bytes;
    memcpy(&checksum, body->data, 8);
    memcpy(&id, body->data + 8, 8);
    memcpy(&bytes, body->data + 16, 8);
    bool whole = bytes == body->bytes && checksum == XXH3_64bits(body->data + 8, bytes - 8);
    return whole ? id : 0;
}

struct body text_body(const char *text)
{
    return (struct body){
        .kind = BODY_BYTES, .bytes = strlen(text), .data = (uint8_t *)(uintptr_t)text};
}

/* ---- children ---- */

pid_t child_start(int (*child_main)(void *context), void *context)
{
    fflush(NULL);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        int status = child_main(context);
        fflush(NULL);
        _exit(status);
    }
    return pid;
}

int child_wait(pid_t pid)
{
    int status;
    pid_t waited = waitpid(pid, &status, 0);
    assert(waited == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
