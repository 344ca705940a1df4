/* retirer.h - a human's hand: retires one consumer (core/membership.h, MEMBERSHIP_RETIRE) on a
 * store and a loop. Running out of memory ends the program. */
#ifndef SIM_RETIRER_H
#define SIM_RETIRER_H

#include "core/loop.h"
#include "core/membership.h"

struct retirer_options {
    struct store *store; /* borrowed */
    struct loop *loop;   /* borrowed */
    struct membership_options membership;
    struct random_stream random;
    /* DONE, or why not. */
    void (*ended)(void *context, enum membership_effect_kind end);
    void *context;
};

struct retirer;

struct retirer *retirer_open(const struct retirer_options *options);
void retirer_start(struct retirer *retirer);
/* After `ended`, or when the store was closed or cut before. */
void retirer_close(struct retirer *retirer);

#endif
