/* place.h - a store of any kind, opened for a test with the loop that drives it. Everything blocks;
 * failures end the test by assert, but for a server that is not there. */
#ifndef TESTS_S3_PLACE_H
#define TESTS_S3_PLACE_H

#include "backend/live_loop.h"
#include "sim/virtual_store.h"
#include "tests/battery/store_battery.h"

#define PLACE_TEXT_MAX 512

enum place_kind {
    PLACE_VIRTUAL,
    PLACE_DIRECTORY,
    PLACE_RGW,
    PLACE_RGW_HTTPS,
    PLACE_VERSITYGW,
    PLACE_VERSITYGW_HTTPS,
};

struct place {
    enum place_kind kind;
    struct store *store; /* owned, as all that follows */
    struct loop *loop;
    struct live_loop *live;
    struct virtual_loop virtual_loop;
    struct virtual_store *virtual_store;
    char folder[PLACE_TEXT_MAX];
};

/* NULL, or why that kind of store cannot be opened here. */
const char *place_missing(enum place_kind kind);
/* Opens an empty one: a new folder, or a prefix that nobody has used. */
void place_open(struct place *place, enum place_kind kind);
void place_close(struct place *place);
/* The battery on `store`: the place's, or one above it. */
struct store_battery place_battery(struct place *place, struct store *store);

#endif
