/* rank_rig.h - one host of a rank, a chain written by hand, and the rank's processes on both.
 *
 * Latency 10 ms. TGBs are whole objects with the payload of core/tgb_payload.h, or only lengths. */
#ifndef TESTS_CORE_RANK_RIG_H
#define TESTS_CORE_RANK_RIG_H

#include "core/consumer_driver.h"
#include "tests/core/manual_loop.h"
#include "tests/core/scripted_store.h"

#define RIG_PRODUCER 5
#define RIG_CONSUMER 2
#define RIG_STEPS_MAX 512

/* What is on the host and in the store outlives processes. */
struct rig {
    struct manual_loop loop;
    struct scripted_store *store;
    struct tgb_mesh mesh;
    enum body_kind body;   /* of TGBs: BODY_BYTES or BODY_LENGTH */
    uint64_t object_bytes; /* of a TGB */
    bool other_payload;    /* slices hold something else */
    bool codec;            /* processes read versions as bytes, where they are stored so */
    struct manifest *newest;
    struct floor floor;
    struct checkpoint_set durable;
    uint32_t saves;
    uint8_t identity; /* of the last process */
};

enum rank_takes {
    RANK_TAKES_AT_ONCE,
    RANK_TAKES_BY_HAND,
};

enum rank_saves {
    RANK_SAVES_AT_ONCE,
    RANK_SAVES_BY_HAND,
};

struct rank {
    struct rig *rig;
    uint32_t port;
    struct consumer_observer observer;
    struct store *codec; /* NULL: none */
    struct consumer_driver *driver;
    enum rank_takes takes;
    enum rank_saves saves;
    uint64_t checkpoint_every; /* steps; 0: none by itself */
    uint64_t running_from;     /* 0: not allowed yet */
    uint64_t taken;            /* steps */
    int64_t taken_ns;          /* the sum of the times at which they were */
    const struct consumer_delivery *ready;
    const struct checkpoint_set *asked; /* to be saved, by hand */
    uint64_t checkpointed;
    uint64_t answers[CONSUMER_REQUEST_COUNT];
    uint64_t slice_wait_ns; /* of the last slice answered */
    bool ended;
    enum consumer_end end;
    char end_text[CONSUMER_END_TEXT_MAX];
};

void rig_init(struct rig *rig, struct tgb_mesh mesh, enum body_kind body);
void rig_deinit(struct rig *rig);
/* One more version with so many steps, and their TGBs. */
void rig_commit(struct rig *rig, uint64_t steps);
void rig_key(const struct rig *rig, uint64_t step, char key[STORE_KEY_MAX]);
/* Stores the newest version as bytes. */
void rig_encode(struct rig *rig);
/* The floor at the newest version and a step; what lies below both is deleted. */
void rig_reclaim(struct rig *rig, uint64_t step);
void rig_script(struct rig *rig, struct rule rule);
/* Changes one byte of a step's TGB. */
void rig_damage(struct rig *rig, uint64_t step, uint64_t offset);
/* Of the rank's consumer, behind everybody's back. */
void rig_put_own(struct rig *rig, enum watermark_part part, uint64_t number, uint64_t step);
bool rig_has_own(struct rig *rig, enum watermark_part part, uint64_t number, uint64_t step);
/* Of the steps [first, next) and a slice, from the committed order alone. */
uint64_t rig_digest(const struct rig *rig, uint64_t digest, uint64_t first, uint64_t next,
                    uint32_t slice);

struct consumer_options rig_options(struct rig *rig, uint32_t slice);
/* A new process; the rank is zeroed before and may then be told how it takes and saves. */
void rank_open(struct rank *rank, struct rig *rig, const struct consumer_options *options);
void rank_start(struct rank *rank);
/* Opened and started with the rig's options. */
void rank_begin(struct rank *rank, struct rig *rig, uint32_t slice);
/* The same, and it takes by hand. */
void rank_begin_by_hand(struct rank *rank, struct rig *rig, uint32_t slice);
void rank_take(struct rank *rank);
void rank_save(struct rank *rank);
const struct consumer *rank_machine(const struct rank *rank);
/* Stops it, waits for its end, and closes it. */
void rank_stop(struct rank *rank);
void rank_crash(struct rank *rank);
/* After its end. */
void rank_close(struct rank *rank);

/* Each fails the test if it does not come to that. */
void rank_until_taken(struct rank *rank, uint64_t steps);
void rank_until_ready(struct rank *rank);
void rank_until_checkpointed(struct rank *rank, uint64_t step);
void rank_until_ended(struct rank *rank);
/* Until it has ended so, with this in its text; closes it. */
void rank_expect_end(struct rank *rank, enum consumer_end end, const char *text);
void rig_until_ns(struct rig *rig, int64_t ns);

#endif
