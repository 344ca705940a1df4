/* memory.h - how much memory this process has held at most since a moment. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include "core/base.h"

/* From here on; what is held now counts. Returns that. False memory of a sanitizer counts, too. */
uint64_t memory_peak_begin(void);
/* At most since the begin. */
uint64_t memory_peak_bytes(void);

#endif
