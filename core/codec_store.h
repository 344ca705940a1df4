/* codec_store.h - a store over a store of bytes: encodes manifests, decodes them, and turns a TGB
 * that is only a length into its payload, sliced or plain. The one adapter between references and
 * bytes. */
#ifndef CORE_CODEC_STORE_H
#define CORE_CODEC_STORE_H

#include <stdbool.h>

#include "core/store.h"
#include "core/tgb.h"

struct codec_store_options {
    bool payload; /* turn BODY_LENGTH TGBs into bytes; false: pass them on as lengths */
    /* How a payload is sliced; none: plain bytes. Every TGB must be large enough for it
     * (tgb_layout_make). */
    struct tgb_mesh mesh;
};

/* Borrows `inner`, which must outlive it and is not closed by it. A body that does not decode is
 * STORE_FAILED with the key and the reason. GETs of a range pass through as bytes. */
struct store *codec_store_open(struct store *inner, const struct codec_store_options *options);
/* How the payloads of later operations are sliced. */
void codec_store_slice(struct store *codec, struct tgb_mesh mesh);

#endif
