/* drawing.c - see drawing.h. */
#include "tests/experiments/drawing.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTER 0.62    /* of the font's size, on average */
#define SMALL_MAX 10.5 /* fonts of values beside points */
#define SVG_BYTES_MAX (4 << 20)

/* The number behind this text; `otherwise` where it is not there, or behind the end. */
static double number_in(const char *from, const char *end, const char *head, double otherwise)
{
    const char *at = strstr(from, head);
    return at != NULL && at < end ? strtod(at + strlen(head), NULL) : otherwise;
}

/* Letters of UTF-8; an entity is one. */
static size_t letters(const char *text)
{
    size_t count = 0;
    for (; *text; text++) {
        count += (*text & 0xC0) != 0x80;
        if (*text == '&')
            text += strcspn(text, ";");
    }
    return count;
}

/* Of one <g transform="translate(...)"> with a <text> inside it. */
static void take(struct drawing *drawing, const char *group, const char *text)
{
    double angle = number_in(group, text, "rotate(", 0);
    double x = number_in(group, text, "translate(", 0);
    const char *comma = strchr(group, ',');
    double y = strtod(comma + 1, NULL);
    const char *words = strchr(text, '>') + 1;
    words += strspn(words, " ");
    size_t length = (size_t)(strstr(words, "</text>") - words);
    assert(drawing->count < DRAWING_TEXTS_MAX);
    struct drawing_text *taken = &drawing->texts[drawing->count];
    *taken = (struct drawing_text){.size = number_in(group, text, "font-size=\"", 13)};
    snprintf(taken->text, sizeof(taken->text), "%.*s", (int)length, words);
    double long_side = LETTER * taken->size * (double)letters(taken->text);
    const char *anchor = strstr(group, "text-anchor=\"");
    double share = strncmp(anchor + 13, "end", 3) == 0 ? 1
                   : strncmp(anchor + 13, "m", 1) == 0 ? 0.5
                                                       : 0;
    if (angle < 1) {
        taken->left = x - share * long_side;
        taken->right = taken->left + long_side;
        taken->top = y - 0.75 * taken->size;
        taken->bottom = y + 0.1 * taken->size;
    } else {
        taken->left = x - 0.75 * taken->size;
        taken->right = x + 0.1 * taken->size;
        taken->top = y - (1 - share) * long_side;
        taken->bottom = taken->top + long_side;
    }
    if (angle < 1 || (angle > 269 && angle < 271))
        drawing->count += taken->text[0] != '\0';
}

void drawing_read(const char *path, struct drawing *drawing)
{
    char *svg = malloc(SVG_BYTES_MAX + 1);
    FILE *file = fopen(path, "r");
    assert(svg != NULL && file != NULL);
    size_t size = fread(svg, 1, SVG_BYTES_MAX, file);
    assert(size > 0 && feof(file));
    fclose(file);
    svg[size] = '\0';
    memset(drawing, 0, sizeof(*drawing));
    drawing->width = number_in(svg, svg + size, " width=\"", 0);
    drawing->height = number_in(svg, svg + size, " height=\"", 0);
    const char *group = svg;
    const char *text = svg;
    while ((text = strstr(text, "<text")) != NULL) {
        for (const char *next = group;
             (next = strstr(next, "<g transform=\"translate(")) != NULL && next < text; next++)
            group = next;
        take(drawing, group, text++);
    }
    free(svg);
}

const struct drawing_text *drawing_find(const struct drawing *drawing, const char *text)
{
    for (size_t i = 0; i < drawing->count; i++)
        if (strcmp(drawing->texts[i].text, text) == 0)
            return &drawing->texts[i];
    return NULL;
}

size_t drawing_faults(const struct drawing *drawing)
{
    size_t faults = 0;
    for (size_t i = 0; i < drawing->count; i++) {
        const struct drawing_text *a = &drawing->texts[i];
        if (a->left < 0 || a->top < 0 || a->right > drawing->width + 8 ||
            a->bottom > drawing->height) {
            printf("\n  '%s' leaves the page: %.0f to %.0f, %.0f to %.0f\n", a->text, a->left,
                   a->right, a->top, a->bottom);
            faults++;
        }
        for (size_t k = 0; k < i; k++) {
            const struct drawing_text *b = &drawing->texts[k];
            if (a->left < b->right && b->left < a->right && a->top < b->bottom &&
                b->top < a->bottom && (a->size > SMALL_MAX || b->size > SMALL_MAX)) {
                printf("\n  '%s' lies upon '%s' at %.0f, %.0f\n", a->text, b->text, a->left,
                       a->top);
                faults++;
            }
        }
    }
    return faults;
}
