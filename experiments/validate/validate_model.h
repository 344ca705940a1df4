/* validate_model.h - the latency models that are held against the measurement. */
#ifndef EXPERIMENTS_VALIDATE_MODEL_H
#define EXPERIMENTS_VALIDATE_MODEL_H

#include "experiments/config/config.h"
#include "experiments/validate/measured.h"
#include "sim/contention.h"

enum validate_model {
    VALIDATE_SIMPLE,    /* lognormal and apply fraction: the default profiles */
    VALIDATE_CONTENDED, /* with waits and convoys, fitted to all rows */
    VALIDATE_LEFT_OUT,  /* the same, fitted without some rows */
    VALIDATE_MODEL_COUNT,
};

const char *validate_model_name(enum validate_model model);
/* One sentence about it. */
const char *validate_model_text(enum validate_model model);

/* Whether fits of this model see the row. */
bool validate_model_sees(enum validate_model model, uint32_t clients);

/* The model's config for a store of the measurement: its profile, then what validation adds. Blocks
 * on reading both. `paths` holds their names, which the config's origins borrow. */
struct validate_paths {
    char profile[CONFIG_PATH_MAX];
    char addition[CONFIG_PATH_MAX];
};

MUST_USE bool validate_model_load(enum validate_model model, const char *store,
                                  struct validate_paths *paths, struct config *config,
                                  struct diagnostic *diagnostic);

/* What the simulator is asked for, seed and duration of counting included. */
void validate_contention_of(const struct config *config, uint32_t clients, uint64_t seed,
                            struct contention_options *options);

/* The deviation that this model may have in the column, in units of measured_deviation; INFINITY
 * where nothing was promised. */
double validate_limit(enum validate_model model, const struct measured_row *row,
                      enum measured_column column);

#endif
