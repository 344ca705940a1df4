/* tgb_scan.h - verifies a whole sliced TGB as its bytes come in, in pieces of any size: the index,
 * each slice's header against its row, checksum and coding, and that all the rest is zero. Keeps
 * the index and a compressed slice's window, not the TGB. Every byte is hostile. */
#ifndef CORE_TGB_SCAN_H
#define CORE_TGB_SCAN_H

#include "core/tgb.h"

/* Bytes [offset, offset + count) of a slice, decompressed, in order. They come before the slice's
 * checksum is known. */
struct tgb_piece {
    uint32_t slice;
    uint64_t offset;
    uint64_t count;
    const uint8_t *bytes;
};

typedef void (*tgb_scan_visit)(const struct tgb_piece *piece, void *context);

struct tgb_scan;

struct tgb_scan_options {
    struct tgb_mesh mesh; /* of the run; not none */
    struct tgb_name name; /* what the key says */
    struct tgb_layout layout;
    tgb_scan_visit visit; /* NULL: none */
    void *context;
};

struct tgb_scan *tgb_scan_open(const struct tgb_scan_options *options);
void tgb_scan_close(struct tgb_scan *scan);
/* The next bytes. An error is final: what follows is not looked at. */
MUST_USE enum tgb_error tgb_scan_feed(struct tgb_scan *scan, const uint8_t *bytes, uint64_t count);
/* After the last: TGB_TRUNCATED if bytes are missing. */
MUST_USE enum tgb_error tgb_scan_end(const struct tgb_scan *scan);
/* Where the scan stands, for a message: bytes taken, and the slice that they end in
 * (layout.slices: none). */
uint64_t tgb_scan_offset(const struct tgb_scan *scan);
uint32_t tgb_scan_slice(const struct tgb_scan *scan);

#endif
