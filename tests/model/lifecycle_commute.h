/* lifecycle_commute.h - what need not wait in a lifecycle world: operations that come to the same
 * whenever they are answered, before or after anything else that can still happen. Of these one is
 * answered at once, and nothing else is tried (a partial order reduction). */
#ifndef TESTS_MODEL_LIFECYCLE_COMMUTE_H
#define TESTS_MODEL_LIFECYCLE_COMMUTE_H

#include "tests/model/lifecycle_choices.h"

static inline bool store_op_writes(const struct store_op *op)
{
    return op->verb != STORE_LIST && op->verb != STORE_GET;
}

bool lifecycle_commutes(const struct lifecycle *world, struct actor actor,
                        const struct store_op *op);

#endif
