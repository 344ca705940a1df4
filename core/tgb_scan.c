/* tgb_scan.c - verifies sliced TGBs in one pass. Ours. */
#include "core/tgb_scan.h"
#include "core/xxh3.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#define WINDOW_LOG_MAX 23 /* 8 MiB: what a frame may make the reader allocate */
#define EXPAND_BYTES 65536

enum region {
    REGION_INDEX,
    REGION_HEADER,
    REGION_STORED,
    REGION_PADDING, /* of a slot */
    REGION_REST,    /* of the object */
};

struct tgb_scan {
    struct tgb_scan_options options;
    enum tgb_error error;
    enum region region;
    uint32_t index; /* of the slice */
    uint64_t at;    /* in the object */
    uint64_t used;  /* of the region */
    struct tgb_slice slice;
    uint64_t expanded; /* raw bytes so far */
    uint8_t header[TGB_SLICE_HEADER_BYTES];
    uint8_t *rows; /* the index */
    XXH3_state_t *hash;
    ZSTD_DCtx *frame;   /* NULL: no slice was compressed yet */
    size_t frame_hint;  /* what zstd said last: 0 after a whole frame */
    uint8_t *expansion; /* EXPAND_BYTES */
};

struct tgb_scan *tgb_scan_open(const struct tgb_scan_options *options)
{
    assert(options->layout.slices == tgb_mesh_slices(options->mesh));
    struct tgb_scan *scan = calloc(1, sizeof(*scan));
    assert(scan != NULL);
    scan->options = *options;
    scan->rows = malloc(options->layout.index_bytes);
    scan->hash = XXH3_createState();
    assert(scan->rows != NULL);
    assert(scan->hash != NULL);
    return scan;
}

void tgb_scan_close(struct tgb_scan *scan)
{
    free(scan->rows);
    free(scan->expansion);
    XXH3_freeState(scan->hash);
    ZSTD_freeDCtx(scan->frame);
    free(scan);
}

static struct tgb_place place_of(const struct tgb_scan *scan)
{
    return (struct tgb_place){
        .name = &scan->options.name, .slices = scan->options.layout.slices, .slice = scan->index};
}

static uint64_t region_bytes(const struct tgb_scan *scan)
{
    const struct tgb_layout *layout = &scan->options.layout;
    switch (scan->region) {
    case REGION_INDEX:
        return layout->index_bytes;
    case REGION_HEADER:
        return TGB_SLICE_HEADER_BYTES;
    case REGION_STORED:
        return scan->slice.stored_bytes;
    case REGION_PADDING:
        return tgb_layout_capacity(layout) - scan->slice.stored_bytes;
    case REGION_REST:
        break;
    }
    return layout->object_bytes - layout->index_bytes - layout->slices * layout->slot_bytes;
}

/* ---- what a region's bytes are ---- */

static void visit(struct tgb_scan *scan, const uint8_t *bytes, uint64_t count)
{
    struct tgb_piece piece = {
        .slice = scan->index, .offset = scan->expanded, .count = count, .bytes = bytes};
    scan->expanded += count;
    if (scan->options.visit != NULL && count > 0)
        scan->options.visit(&piece, scan->options.context);
}

static enum tgb_error expand(struct tgb_scan *scan, const uint8_t *bytes, uint64_t count)
{
    ZSTD_inBuffer in = {.src = bytes, .size = count};
    bool full = false; /* there may be more than it wrote */
    while (in.pos < in.size || full) {
        ZSTD_outBuffer out = {.dst = scan->expansion, .size = EXPAND_BYTES};
        if (scan->frame_hint == 0)
            return TGB_BAD_CODING; /* something follows the frame */
        scan->frame_hint = ZSTD_decompressStream(scan->frame, &out, &in);
        if (ZSTD_isError(scan->frame_hint) || out.pos > scan->slice.raw_bytes - scan->expanded)
            return TGB_BAD_CODING;
        visit(scan, scan->expansion, out.pos);
        full = out.pos == out.size && scan->frame_hint != 0;
    }
    return TGB_OK;
}

static enum tgb_error take_bytes(struct tgb_scan *scan, const uint8_t *bytes, uint64_t count)
{
    switch (scan->region) {
    case REGION_INDEX:
        memcpy(scan->rows + scan->used, bytes, count);
        return TGB_OK;
    case REGION_HEADER:
        memcpy(scan->header + scan->used, bytes, count);
        return TGB_OK;
    case REGION_STORED:
        XXH3_64bits_update(scan->hash, bytes, count);
        if (scan->slice.coding == TGB_ZSTD)
            return expand(scan, bytes, count);
        visit(scan, bytes, count);
        return TGB_OK;
    case REGION_PADDING:
    case REGION_REST:
        for (uint64_t i = 0; i < count; i++)
            if (bytes[i] != 0)
                return TGB_BAD_PADDING;
        return TGB_OK;
    }
    return TGB_OK;
}

/* ---- what follows a region ---- */

static enum tgb_error begin_slice(struct tgb_scan *scan)
{
    struct tgb_place place = place_of(scan);
    enum tgb_error error =
        tgb_slice_decode(scan->header, scan->options.layout.slot_bytes, &place, &scan->slice);
    if (error != TGB_OK)
        return error;
    if (memcmp(scan->header, tgb_index_row(scan->rows, scan->index), sizeof(scan->header)) != 0)
        return TGB_BAD_FIELD;
    XXH3_64bits_reset_withSeed(scan->hash, tgb_slice_seed(&place, &scan->slice));
    scan->expanded = 0;
    scan->frame_hint = 1;
    if (scan->slice.coding == TGB_PLAIN)
        return TGB_OK;
    if (scan->frame == NULL) {
        scan->frame = ZSTD_createDCtx();
        scan->expansion = malloc(EXPAND_BYTES);
        assert(scan->frame != NULL && scan->expansion != NULL);
        size_t set = ZSTD_DCtx_setParameter(scan->frame, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
        assert(!ZSTD_isError(set));
    }
    ZSTD_DCtx_reset(scan->frame, ZSTD_reset_session_only);
    return TGB_OK;
}

static enum tgb_error end_slice(struct tgb_scan *scan)
{
    if (XXH3_64bits_digest(scan->hash) != scan->slice.checksum)
        return TGB_BAD_CHECKSUM;
    if (scan->expanded != scan->slice.raw_bytes ||
        (scan->slice.coding == TGB_ZSTD && scan->frame_hint != 0))
        return TGB_BAD_CODING;
    return TGB_OK;
}

/* What a whole region is found to be. */
static enum tgb_error judge_region(struct tgb_scan *scan)
{
    switch (scan->region) {
    case REGION_INDEX:
        return tgb_index_check(scan->rows, scan->options.mesh, &scan->options.layout,
                               &scan->options.name);
    case REGION_HEADER:
        return begin_slice(scan);
    case REGION_STORED:
        return end_slice(scan);
    case REGION_PADDING:
    case REGION_REST:
        break;
    }
    return TGB_OK;
}

static void next_region(struct tgb_scan *scan)
{
    scan->used = 0;
    switch (scan->region) {
    case REGION_INDEX:
        scan->region = REGION_HEADER;
        break;
    case REGION_HEADER:
        scan->region = REGION_STORED;
        break;
    case REGION_STORED:
        scan->region = REGION_PADDING;
        break;
    case REGION_PADDING:
        scan->index++;
        scan->region = scan->index < scan->options.layout.slices ? REGION_HEADER : REGION_REST;
        break;
    case REGION_REST:
        break;
    }
}

enum tgb_error tgb_scan_feed(struct tgb_scan *scan, const uint8_t *bytes, uint64_t count)
{
    while (scan->error == TGB_OK) {
        uint64_t left = region_bytes(scan) - scan->used;
        if (left == 0 && scan->region != REGION_REST) {
            scan->error = judge_region(scan);
            if (scan->error == TGB_OK)
                next_region(scan);
            continue;
        }
        if (count == 0)
            break;
        if (left == 0) {
            scan->error = TGB_BAD_SIZE; /* more than the object */
            break;
        }
        uint64_t here = left < count ? left : count;
        scan->error = take_bytes(scan, bytes, here);
        bytes += here;
        count -= here;
        scan->used += here;
        scan->at += here;
    }
    return scan->error;
}

enum tgb_error tgb_scan_end(const struct tgb_scan *scan)
{
    if (scan->error == TGB_OK && scan->at < scan->options.layout.object_bytes)
        return TGB_TRUNCATED;
    return scan->error;
}

uint64_t tgb_scan_offset(const struct tgb_scan *scan)
{
    return scan->at;
}

uint32_t tgb_scan_slice(const struct tgb_scan *scan)
{
    bool inside = scan->region != REGION_INDEX && scan->region != REGION_REST;
    return inside ? scan->index : scan->options.layout.slices;
}
