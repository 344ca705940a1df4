/* paper_rules.h - the declared rules that verdicts are computed by, on the runs of P1. */
#ifndef EXPERIMENTS_PAPER_RULES_H
#define EXPERIMENTS_PAPER_RULES_H

#include "experiments/figures/figure_data.h"
#include "experiments/figures/paper_reported.h"

#define RULE_POINTS 0.015    /* success: what counts as a difference (1.5 points) */
#define RULE_THROUGHPUT 0.02 /* MB/s: the same, as a share */
#define RULE_AGE_FACTOR 1.5  /* median age against the early hour, and against other policies */
#define RULE_FAIRNESS 0.95   /* Jain's index over the bytes of one hour */
#define RULE_EARLY_HOUR 2    /* the first hour that the start does not touch */

#define RULE_SENTENCE_MAX 1200

/* Hours that are compared: 2 and the last whole one; both 1 in a run shorter than that; 0 where
 * there is no whole hour. */
struct rule_hours {
    int early;
    int late;
};

struct rule_hours rule_hours(const struct figure_data *data);

/* What an arm gives up, and from which hour on, as one sentence; "nothing by these rules". */
void rule_losses(const struct figure_data *data, const struct figure_arm *arm,
                 const struct reported *reported, char sentence[RULE_SENTENCE_MAX]);
/* The rules in words, for the reader of that sentence. */
void rule_losses_describe(const struct reported *reported, struct rule_hours hours,
                          char sentence[RULE_SENTENCE_MAX]);

#define RULE_ANSWERS(X)                                                                            \
    X(RULE_YES, "yes")                                                                             \
    X(RULE_ON_AVERAGE, "on average only")                                                          \
    X(RULE_NO, "no")                                                                               \
    X(RULE_UNKNOWN, "not known")

/* Whether a mean lies within a margin of 0: with its whole 95 % interval, on average only, or not.
 * Not known: fewer than two seeds. */
enum rule_answer {
#define X(code, text) code,
    RULE_ANSWERS(X)
#undef X
};

const char *rule_answer_text(enum rule_answer answer);

/* Whether a budget holds while the manifest grows, over the seeds that have both hours. */
struct rule_budget {
    double asked;                        /* 1 - kappa */
    struct statistics_equivalence drift; /* success, late minus early */
    struct statistics_mean distance;     /* success of the late hour minus asked */
    struct statistics_mean throughput;   /* MB/s, late / early - 1 */
    enum rule_answer drift_answer;
    enum rule_answer distance_answer;
    enum rule_answer throughput_answer;
};

/* Only for an arm whose policy is dac. */
struct rule_budget rule_budget(const struct figure_data *data, const struct figure_arm *arm);
bool rule_has_budget(const struct figure_arm *arm);
/* 1 - kappa. */
double rule_asked(const struct figure_arm *arm);
/* The weakest of the three answers. */
enum rule_answer rule_budget_answer(const struct rule_budget *budget);

#endif
