/* xxh3.h - libxxhash with the widest vector instructions that this machine has, where the library
 * was built to choose among them: XXH3_64bits then reads 30 GB/s instead of 8 (AVX2, data in the
 * cache). The values are the same. Of XXH3: no memory, nothing blocks. */
#ifndef CORE_XXH3_H
#define CORE_XXH3_H

#include <xxhash.h>

#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* puts its functions in the place of xxhash.h's */
#endif

#endif
