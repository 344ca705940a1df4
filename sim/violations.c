/* violations.c - counts what checkers find and words the first. Ours. */
#include "sim/violations.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void violations_add(struct violations *violations, int64_t now_ns, uint32_t actor,
                    const char *format, ...)
{
    if (violations->count++ > 0)
        return;
    int used = snprintf(violations->first, sizeof(violations->first), "%.9f s, actor %" PRIu32 ": ",
                        (double)now_ns / (double)NS_PER_S, actor);
    assert(used > 0 && (size_t)used < sizeof(violations->first));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(violations->first + used, sizeof(violations->first) - (size_t)used, format,
              arguments);
    va_end(arguments);
}
