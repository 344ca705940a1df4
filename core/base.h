/* base.h - what every file of the core shares: time units, attributes, the always-on assert.
 *
 * Time is int64_t nanoseconds everywhere. In the simulator it starts at 0; live it is Unix time
 * that never runs backwards within a process. */
#ifndef CORE_BASE_H
#define CORE_BASE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef NDEBUG
#error "asserts are part of the program: do not define NDEBUG"
#endif

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define TIME_NEVER INT64_MAX

#define MUST_USE __attribute__((warn_unused_result))

/* 128 random bits drawn at start; what makes one run of one producer distinct from every other. */
#define INCARNATION_BYTES 16

struct incarnation {
    uint8_t bytes[INCARNATION_BYTES];
};

#endif
