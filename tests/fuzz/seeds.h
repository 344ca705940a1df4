/* seeds.h - seeds that are not written by seeds.c itself. */
#ifndef TESTS_FUZZ_SEEDS_H
#define TESTS_FUZZ_SEEDS_H

#include <stddef.h>

typedef void seed_write(const char *target, const char *name, const void *data, size_t size);

/* Of what processes of one job tell each other, keep, and are told by launchers and servers. */
void seeds_of_jobs(seed_write *write);

#endif
