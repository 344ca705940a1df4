/* s3_answer_text.c - the line that tells a person what went wrong (s3_answer.h). Where it is too
 * long its parts are cut, the least useful first, each down to a size of its own. Ours. */
#include <stdio.h>
#include <string.h>

#include "backend/s3_answer.h"
#include "backend/s3_text.h"

#define CUT "..."
#define PLACE_LEAST 44 /* the end of a key tells more than its beginning */
#define PART_LEAST 24
#define PART_MAX 800 /* more than bucket, prefix and key */

struct part {
    char text[PART_MAX];
    size_t least;
};

static void cut_end(char *text, size_t bytes)
{
    memcpy(text + bytes - strlen(CUT), CUT, sizeof(CUT));
}

static void cut_begin(char *text, size_t bytes)
{
    size_t length = strlen(text);
    size_t kept = bytes - strlen(CUT);
    memmove(text + strlen(CUT), text + length - kept, kept + 1);
    memcpy(text, CUT, strlen(CUT));
}

/* Shortens the part by what the line is over its room; returns what it still is. */
static size_t cut(struct part *part, size_t over, void (*how)(char *text, size_t bytes))
{
    size_t length = strlen(part->text);
    size_t spare = length > part->least ? length - part->least : 0;
    if (spare == 0 || over == 0)
        return over;
    size_t taken = over < spare ? over : spare;
    how(part->text, length - taken);
    return over - taken;
}

static void part_set(struct part *part, const char *text, size_t least)
{
    s3_text_copy(text, strlen(text), part->text, sizeof(part->text));
    part->least = least;
}

void s3_answer_text(const struct s3_answer *answer, const char *request_id, const char *what,
                    const char *advice, char text[STORE_ERROR_MAX])
{
    struct part place, said, endpoint, request, to_do;
    char full[PART_MAX];
    part_set(&to_do, advice, PART_LEAST);
    part_set(&said, what, PART_LEAST);
    part_set(&endpoint, answer->endpoint, PART_LEAST);
    part_set(&request, request_id, PART_LEAST);
    snprintf(full, sizeof(full), "s3://%s/%s", answer->bucket, answer->key);
    part_set(&place, full, PLACE_LEAST);
    const char *verb = store_verb_name(answer->verb);
    const char *before_request = request.text[0] != '\0' ? ", request " : "";
    const char *before_advice = to_do.text[0] != '\0' ? ": " : "";
    size_t length = strlen(verb) + strlen(" : from ") + 1 + strlen(before_request) +
                    strlen(before_advice) + strlen(place.text) + strlen(said.text) +
                    strlen(endpoint.text) + strlen(request.text) + strlen(to_do.text);
    size_t over = length > STORE_ERROR_MAX - 1 ? length - (STORE_ERROR_MAX - 1) : 0;
    over = cut(&place, over, cut_begin);
    over = cut(&endpoint, over, cut_end);
    over = cut(&request, over, cut_end);
    over = cut(&said, over, cut_end);
    over = cut(&to_do, over, cut_end);
    assert(over == 0);
    snprintf(text, STORE_ERROR_MAX, "%s %s: %s from %s%s%s%s%s", verb, place.text, said.text,
             endpoint.text, before_request, request.text, before_advice, to_do.text);
}
