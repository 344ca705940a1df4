/* figure_text.h - numbers and captions as people read them, in Markdown and in plots. */
#ifndef EXPERIMENTS_FIGURE_TEXT_H
#define EXPERIMENTS_FIGURE_TEXT_H

#include <stdio.h>

#include "experiments/figures/figure.h"

#define TEXT_MAX 96
#define CAPTION_MAX 400

/* "96.31 ± 0.42" of mean * scale; "96.31" with one value, "–" with none. */
void text_mean(struct statistics_mean mean, double scale, int decimals, char text[TEXT_MAX]);
/* Three significant digits, without an exponent: "0.00512", "4.21", "1340"; "–" for NAN. */
void text_number(double value, char text[TEXT_MAX]);
/* The mean in text_number's form with its half width. */
void text_mean_short(struct statistics_mean mean, double scale, char text[TEXT_MAX]);

/* A swept value with its unit, as a config would have it: "30s", "4MiB", "0.037". */
void text_swept(const struct figure_arm *arm, char text[TEXT_MAX]);
/* Whether the arm's swept value is the key's default. */
bool swept_is_default(const struct figure_arm *arm);

/* What was run, in words: "32 producers × 13.5 MB/s, 32 MiB TGBs, s3-standard, 10 seeds, ...". Of
 * values that differ between arms it names what most arms have. */
void text_caption(const struct figure_page *page, char caption[CAPTION_MAX]);
/* How to read the table: what stands behind the sign ±, and the warm-up. */
void text_note(const struct figure_page *page, char note[CAPTION_MAX]);
/* Three cells of a table: seeds | config | commit. */
void text_origin(const struct figure_arm *arm, char text[TEXT_MAX]);
/* "15 min", as of figure_window_s. */
void text_window(const struct figure_arm *arm, char text[TEXT_MAX]);
/* To three digits: "1 GiB", "1.5 MiB". */
void text_size(uint64_t bytes, char text[TEXT_MAX]);
/* "15 min". */
void text_duration(int64_t duration_ns, char text[TEXT_MAX]);

/* Writes `name = 'text'` for gnuplot, quoted. */
void variable_text(FILE *variables, const char *name, const char *text);
/* Writes mean, low and high, each after a blank, in `scale`: of one value low and high are the
 * mean, of none all are NaN. */
void points_mean(FILE *points, struct statistics_mean mean, double scale);

#endif
