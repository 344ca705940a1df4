/* member_host.h - the host of one consumer, and processes of it that are only their membership
 * machine. Latency 10 ms. */
#ifndef TESTS_CORE_MEMBER_HOST_H
#define TESTS_CORE_MEMBER_HOST_H

#include "core/membership.h"
#include "tests/core/manual_loop.h"
#include "tests/core/scripted_store.h"

#define CONSUMER 7

/* What is durable on a host outlives its processes. */
struct host {
    struct manual_loop loop;
    struct scripted_store *store;
    struct checkpoint_set durable;
    uint32_t saves;
};

/* One process of the consumer. */
struct life {
    struct host *host;
    struct store *port;
    struct membership membership;
    struct timer timer;
    enum membership_effect_kind end; /* valid once `ended` */
    bool ended;
};

void host_init(struct host *host);
void host_deinit(struct host *host);
void host_script(struct host *host, struct rule rule);
/* Behind everybody's back. */
void host_put(struct host *host, enum watermark_part part, uint64_t number, uint64_t step);
void host_put_intent(struct host *host, uint64_t step);
bool host_has(struct host *host, enum watermark_part part, uint64_t number, uint64_t step);
bool host_has_value(struct host *host, uint64_t number, uint64_t step);

struct membership_options life_options(uint8_t identity);
void life_init(struct life *life, struct host *host, const struct membership_options *options);
/* Each runs to its end. */
enum membership_effect_kind life_start(struct life *life);
/* A new process, with a start_step or a rollback_step. */
enum membership_effect_kind life_start_at(struct life *life, struct host *host, uint8_t identity,
                                          uint64_t start_step, uint64_t rollback_step);
/* As the caller of the machine does it: the set durable first, then published. */
enum membership_effect_kind life_checkpoint(struct life *life, uint64_t step, uint32_t kept);
enum membership_effect_kind life_check(struct life *life);

#endif
