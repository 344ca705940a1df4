/* trainer.c - uses steps, saves checkpoints, and shows the checkers all of it. Ours. */
#include "sim/trainer.h"

#include "sim/memory.h"

struct trainer {
    struct trainer_options options;
    struct consumer_driver *driver;
    struct consumer_observer observer;
    struct timer step_timer;
    struct timer save_timer;
    struct checkpoint_set saving; /* on its way to the disk; empty: none */
    uint64_t steps_left;          /* until the next checkpoint */
    uint32_t life;                /* its number with the reader checker */
    bool ended;
};

/* The checkpoint that the consumer goes back to; NULL: none. */
static const struct checkpoint *goes_back_to(const struct trainer *trainer)
{
    const struct checkpoint_set *set = &trainer->options.consumer.checkpoints;
    uint64_t latest = trainer->options.consumer.membership.rollback_step;
    for (uint32_t i = set->count; i > 0; i--)
        if (latest == 0 || set->items[i - 1].step <= latest)
            return &set->items[i - 1];
    return NULL;
}

static const struct trainer_observer *observer_of(const struct trainer *trainer)
{
    return &trainer->options.observer;
}

static struct reader_checker *reader_of(const struct trainer *trainer)
{
    return &trainer->options.checkers->reader;
}

static uint32_t rank_of(const struct trainer *trainer)
{
    return trainer->options.consumer.membership.consumer;
}

static uint64_t number_of(const struct trainer *trainer)
{
    return consumer_driver_consumer(trainer->driver)->membership.number;
}

static const struct checkpoint_set *checkpoints_of(const struct trainer *trainer)
{
    return &consumer_driver_consumer(trainer->driver)->membership.checkpoints;
}

static int64_t world_now(const struct trainer *trainer)
{
    return loop_now(trainer->options.world);
}

static void ask_checkpoint(struct trainer *trainer)
{
    reader_checker_place(reader_of(trainer), trainer->life,
                         consumer_driver_consumer(trainer->driver)->cursor);
    consumer_driver_checkpoint(trainer->driver);
}

/* ---- steps ---- */

static void take_step(struct trainer *trainer)
{
    bool due = trainer->options.checkpoint_steps > 0 && --trainer->steps_left == 0;
    consumer_driver_take(trainer->driver);
    if (!due || trainer->ended)
        return;
    trainer->steps_left = trainer->options.checkpoint_steps;
    ask_checkpoint(trainer);
}

static void step_used(struct timer *timer, void *context)
{
    (void)timer;
    take_step(context);
}

static void on_ready(void *context, uint32_t consumer, const struct consumer_delivery *delivery)
{
    (void)consumer;
    struct trainer *trainer = context;
    struct trainer_options *options = &trainer->options;
    reader_checker_given(reader_of(trainer), world_now(trainer), trainer->life, delivery);
    observer_of(trainer)->given(observer_of(trainer)->context, delivery);
    double factor = random_factor(&options->random, options->step_jitter);
    int64_t used_ns = (int64_t)((double)options->step_ns * factor);
    loop_timer_set(options->loop, &trainer->step_timer, loop_now(options->loop) + used_ns);
}

static void on_running(void *context, uint32_t consumer, uint64_t step)
{
    (void)consumer;
    struct trainer *trainer = context;
    reader_checker_running(reader_of(trainer), world_now(trainer), trainer->life, step,
                           goes_back_to(trainer));
    rank_holds_allowed(&trainer->options.checkers->holds, rank_of(trainer), number_of(trainer),
                       step, checkpoints_of(trainer));
    observer_of(trainer)->running(observer_of(trainer)->context, step);
    if (trainer->options.checkpoint_steps > 0 && checkpoints_of(trainer)->count == 0)
        ask_checkpoint(trainer);
}

/* ---- checkpoints ---- */

static uint64_t highest_number(const struct checkpoint_set *set)
{
    uint64_t highest = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].number > highest)
            highest = set->items[i].number;
    return highest;
}

/* False if the disk refuses it. */
static bool save(struct trainer *trainer)
{
    struct trainer_disk *disk = trainer->options.disk;
    uint64_t number = highest_number(&trainer->saving);
    if (number < disk->number)
        return false;
    disk->number = number;
    disk->set = trainer->saving;
    trainer->saving.count = 0;
    rank_holds_saved(&trainer->options.checkers->holds, rank_of(trainer), number, &disk->set);
    observer_of(trainer)->saved(observer_of(trainer)->context, &disk->set);
    return true;
}

static void save_due(struct timer *timer, void *context)
{
    (void)timer;
    struct trainer *trainer = context;
    if (save(trainer)) {
        consumer_driver_saved(trainer->driver);
        return;
    }
    observer_of(trainer)->refused(observer_of(trainer)->context);
    consumer_driver_save_refused(trainer->driver);
}

static void on_save(void *context, uint32_t consumer, const struct checkpoint_set *set)
{
    (void)consumer;
    struct trainer *trainer = context;
    struct trainer_options *options = &trainer->options;
    assert(trainer->saving.count == 0);
    reader_checker_saves(reader_of(trainer), world_now(trainer), trainer->life, set);
    trainer->saving = *set;
    double part = random_unit(&options->random);
    int64_t after_ns = (int64_t)((double)options->save_ns * part);
    loop_timer_set(options->loop, &trainer->save_timer, loop_now(options->loop) + after_ns);
}

static void on_checkpointed(void *context, uint32_t consumer, uint64_t step)
{
    (void)consumer;
    struct trainer *trainer = context;
    observer_of(trainer)->checkpointed(observer_of(trainer)->context, step);
}

/* ---- the rest ---- */

static void on_request(void *context, uint32_t consumer, const struct consumer_answer *answer)
{
    (void)consumer;
    struct trainer *trainer = context;
    observer_of(trainer)->request(observer_of(trainer)->context, answer);
}

static void cancel_timers(struct trainer *trainer)
{
    loop_timer_cancel(trainer->options.loop, &trainer->step_timer);
    loop_timer_cancel(trainer->options.loop, &trainer->save_timer);
}

static void on_ended(void *context, uint32_t consumer, enum consumer_end end, const char *text)
{
    (void)consumer;
    struct trainer *trainer = context;
    trainer->ended = true;
    cancel_timers(trainer);
    reader_checker_ended(reader_of(trainer), world_now(trainer), trainer->life, number_of(trainer),
                         end, text);
    observer_of(trainer)->ended(observer_of(trainer)->context, end, text);
}

struct trainer *trainer_open(const struct trainer_options *options)
{
    struct trainer *trainer = memory_make(1, sizeof(*trainer));
    trainer->options = *options;
    trainer->steps_left = options->checkpoint_steps;
    trainer->life = reader_checker_add(&options->checkers->reader, &options->consumer);
    trainer->observer = (struct consumer_observer){.context = trainer,
                                                   .running = on_running,
                                                   .ready = on_ready,
                                                   .save = on_save,
                                                   .checkpointed = on_checkpointed,
                                                   .request = on_request,
                                                   .ended = on_ended};
    timer_init(&trainer->step_timer, step_used, trainer);
    timer_init(&trainer->save_timer, save_due, trainer);
    struct consumer_driver_options driver = {.store = options->store,
                                             .loop = options->loop,
                                             .observer = &trainer->observer,
                                             .consumer = &trainer->options.consumer};
    trainer->driver = consumer_driver_open(&driver);
    return trainer;
}

void trainer_start(struct trainer *trainer)
{
    consumer_driver_start(trainer->driver);
}

void trainer_stop(struct trainer *trainer)
{
    consumer_driver_stop(trainer->driver);
}

void trainer_refused(struct trainer *trainer)
{
    reader_checker_refused(reader_of(trainer), trainer->life);
}

void trainer_crash(struct trainer *trainer)
{
    cancel_timers(trainer);
    trainer->ended = true;
    if (trainer->saving.count > 0 && random_next(&trainer->options.random) % 2 == 0)
        (void)save(trainer); /* a refused one is lost, as one that did not come to be */
}

void trainer_close(struct trainer *trainer)
{
    cancel_timers(trainer);
    consumer_driver_close(trainer->driver);
    free(trainer);
}

const struct consumer *trainer_consumer(const struct trainer *trainer)
{
    return consumer_driver_consumer(trainer->driver);
}

bool trainer_saves(const struct trainer *trainer)
{
    return trainer->saving.count > 0;
}
