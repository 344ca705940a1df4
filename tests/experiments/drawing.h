/* drawing.h - what a reader of a figure sees of its words: the texts of an SVG and where they
 * stand. */
#ifndef TESTS_EXPERIMENTS_DRAWING_H
#define TESTS_EXPERIMENTS_DRAWING_H

#include <stddef.h>

#define DRAWING_TEXTS_MAX 600

/* In pixels from the top left corner; the width is an estimate by the number of letters. */
struct drawing_text {
    double left;
    double top;
    double right;
    double bottom;
    double size; /* of its font */
    char text[160];
};

struct drawing {
    double width;
    double height;
    size_t count;
    struct drawing_text texts[DRAWING_TEXTS_MAX];
};

/* Must be an SVG of gnuplot's. Texts at an angle are left out, upright and level ones kept. */
void drawing_read(const char *path, struct drawing *drawing);
/* NULL: it has no such text. */
const struct drawing_text *drawing_find(const struct drawing *drawing, const char *text);
/* Texts that lie upon each other, or leave the page; each is printed. Values beside points, which
 * are set small, may lie close. */
size_t drawing_faults(const struct drawing *drawing);

#endif
