/* hostile_answer.h - what an honest S3 server does with a request and says to it. */
#ifndef TESTS_HOSTILE_HOSTILE_ANSWER_H
#define TESTS_HOSTILE_HOSTILE_ANSWER_H

#include "tests/hostile/hostile_objects.h"
#include "tests/hostile/hostile_server.h"
#include "tests/hostile/hostile_text.h"

struct hostile_answer {
    int status;
    struct hostile_text headers; /* whole lines, beside those every answer has */
    struct hostile_text body;
};

void hostile_answer_free(struct hostile_answer *answer);
/* An <Error> document. */
void hostile_answer_error(struct hostile_answer *answer, int status, const char *code,
                          const char *message);
/* Performs the request on the objects. `body` has request->body_bytes. */
void hostile_answer_make(struct hostile_objects *objects, const struct hostile_request *request,
                         const struct hostile_rule *rule, const uint8_t *body, size_t page_keys,
                         struct hostile_answer *answer);
/* Verb and key from method and target; what is not below the bucket has no key. */
void hostile_answer_classify(struct hostile_request *request, const char *bucket);
/* A parameter of the query, decoded; NULL: it is not there. The caller frees it. */
char *hostile_answer_parameter(const char *target, const char *name);

#endif
