/* fixture.h - what the tests of the backend share: a loop with a directory store, bodies that tell
 * whether they are whole, and children. Failures here end the test or the child by assert, so that
 * all of it can be used in forked children. */
#ifndef TESTS_BACKEND_FIXTURE_H
#define TESTS_BACKEND_FIXTURE_H

#include <stdio.h>
#include <sys/types.h>

#include "backend/directory_store.h"
#include "backend/live_loop.h"
#include "tests/scratch.h"

#define FIXTURE_BYTES_MAX ((uint64_t)128 << 20)

struct fixture {
    struct live_loop *loop;
    struct store *store;
};

/* `options` may be NULL. */
void fixture_open(struct fixture *fixture, const char *path,
                  const struct directory_options *options);
void fixture_close(struct fixture *fixture);

/* Each submits one operation and runs the loop until it is done. */
enum store_outcome fixture_put(struct fixture *fixture, enum store_verb verb, const char *key,
                               struct body body, char error[STORE_ERROR_MAX]);
/* FIXTURE_BYTES_MAX at most. On STORE_OK the body is the caller's. */
enum store_outcome fixture_get(struct fixture *fixture, const char *key, struct body *body,
                               char error[STORE_ERROR_MAX]);
enum store_outcome fixture_delete(struct fixture *fixture, const char *key);
/* Calls `visit` for all keys with the prefix, page by page. */
void fixture_list(struct fixture *fixture, const char *prefix,
                  void (*visit)(const char *key, void *context), void *context);

/* A body of at least 24 bytes that holds `id`, noise that follows from it, and a checksum. The
 * caller frees it by body_release. */
struct body whole_body_make(uint64_t id, uint64_t bytes);
/* The id, or 0 if the body is torn or something else. */
uint64_t whole_body_id(const struct body *body);

/* A borrowed text as a body. */
struct body text_body(const char *text);

/* Forks a child that runs `main` and exits with what it returns. Flushes stdio first. */
pid_t child_start(int (*child_main)(void *context), void *context);
/* Waits; the exit status, or 128 + the signal. */
int child_wait(pid_t pid);
/* In a child's main: leaves it with 1, and says where. */
#define CHILD_EXPECT(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "\n%s:%d: %s\n", __FILE__, __LINE__, #condition);                      \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

#endif
