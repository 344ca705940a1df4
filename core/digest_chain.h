/* digest_chain.h - one number for all that a rank was given, in order: two ranks, or two lives of
 * one, that were given the same slices of the same steps have the same digest.
 *
 * Ours: d(0) = 0; d(k) = XXH3-64 over (d(k-1), step, XXH3-64 of the raw slice), as 24
 * little-endian bytes. Where only a length travels (simulator), the slice's checksum is that of
 * what names it: digest_chain_length. */
#ifndef CORE_DIGEST_CHAIN_H
#define CORE_DIGEST_CHAIN_H

#include "core/manifest.h"

/* d(k) of d(k-1). */
uint64_t digest_chain_next(uint64_t digest, uint64_t step, uint64_t slice_checksum);
/* XXH3-64 of the raw bytes. */
uint64_t digest_chain_slice(const uint8_t *bytes, uint64_t count);
/* Stands for the checksum of a slice whose bytes do not exist: by producer, epoch, sequence, slice
 * and number of bytes. */
uint64_t digest_chain_length(const struct tgb_name *tgb, uint32_t slice, uint64_t bytes);

#endif
