/* world.c - the store, the machines and what can happen to them. Ours. */
#include "tests/model/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/model/world_hash.h"
#include "tests/model/world_spec.h"

/* ---- machines ---- */

/* Follows the machine until it waits for an answer, or for its next attempt. */
static void follow(struct world *world, struct machine *machine, struct commit_effect effect)
{
    while (effect.kind == COMMIT_SLEEP)
        effect = commit_wake(&machine->commit, 0);
    machine->busy = effect.kind == COMMIT_SUBMIT;
    if (effect.kind == COMMIT_ENDED) {
        machine->alive = false;
        world_check_ended(world, machine);
    }
    if (effect.kind != COMMIT_DECIDED)
        return;
    const struct commit *commit = &machine->commit;
    world_check_decided(world, machine);
    while (machine->queue.ready > 0 &&
           batch_queue_at(&machine->queue, 0)->sequence <= commit->committed_sequence)
        batch_queue_pop(&machine->queue);
}

static void begin(struct world *world, struct machine *machine)
{
    struct commit *commit = &machine->commit;
    if (commit->epoch != 0 && machine->queue.count == 0) {
        uint64_t sequence = commit->committed_sequence + 1;
        struct batch batch = {.sequence = sequence,
                              .end_offset = commit->committed_offset + WORLD_BATCH_BYTES,
                              .bytes = WORLD_BATCH_BYTES};
        *batch_queue_push(&machine->queue, batch.sequence) = batch;
        batch_queue_uploaded(&machine->queue, sequence, 0);
    }
    follow(world, machine, commit_begin(commit, 0));
}

static void start_machine(struct world *world, uint32_t producer)
{
    assert(world->machine_count < WORLD_MACHINES_MAX);
    struct machine *machine = &world->machines[world->machine_count++];
    struct commit_options options = {
        .producer = producer,
        .entry_bytes = MANIFEST_ENTRY_BYTES_MIN,
        .find = world->bounds.find,
        .active_versions = 100,
        .retry_ns = 1,
        .retry_max_ns = 1,
    };
    options.incarnation.bytes[0] = (uint8_t)world->machine_count;
    machine->alive = true;
    machine->busy = false;
    batch_queue_init(&machine->queue);
    commit_init(&machine->commit, &options, random_stream_make(1, producer), &machine->queue);
}

/* ---- the store ---- */

static enum store_outcome create(struct world *world, uint64_t version, struct manifest *manifest)
{
    assert(version <= WORLD_VERSIONS_MAX);
    if (world->stored[version])
        return STORE_EXISTS;
    world->stored[version] = manifest_retain(manifest);
    world_check_created(world, manifest);
    return STORE_OK;
}

static void list(const struct world *world, struct store_op *op)
{
    char key[STORE_KEY_MAX];
    size_t prefix = strlen(op->key);
    list_page_clear(&op->page);
    for (uint64_t version = 1; version <= WORLD_VERSIONS_MAX; version++) {
        name_version(key, version);
        if (world->stored[version] && strncmp(key, op->key, prefix) == 0 &&
            strcmp(key, op->after) > 0)
            list_page_add(&op->page, key, 1);
    }
    name_floor(key, world->floor);
    if (world->floor.version > 0 && strncmp(key, op->key, prefix) == 0 &&
        strcmp(key, op->after) > 0)
        list_page_add(&op->page, key, 0);
}

static enum store_outcome apply(struct world *world, struct store_op *op)
{
    uint64_t version = 0;
    switch (op->verb) {
    case STORE_LIST:
        list(world, op);
        return STORE_OK;
    case STORE_GET:
        if (!name_parse_version(op->key, &version) || version > WORLD_VERSIONS_MAX ||
            !world->stored[version])
            return STORE_NOT_FOUND;
        op->result = (struct body){
            .kind = BODY_MANIFEST, .bytes = 1, .manifest = manifest_retain(world->stored[version])};
        return STORE_OK;
    case STORE_PUT_IF_ABSENT:
        name_parse_version(op->key, &version);
        return create(world, version, op->body.manifest);
    case STORE_PUT:
    case STORE_DELETE:
    case STORE_VERB_COUNT:
        break;
    }
    world_broken(world, "a commit machine sent a %s", store_verb_name(op->verb));
    return STORE_FAILED;
}

static void answer(struct world *world, struct machine *machine, enum store_outcome outcome)
{
    machine->commit.op.outcome = outcome;
    follow(world, machine, commit_answer(&machine->commit, 0));
}

static void send_late(struct world *world, const struct machine *machine)
{
    const struct store_op *op = &machine->commit.op;
    assert(world->late_count < WORLD_LATE_MAX);
    world->late[world->late_count++] = (struct late_create){
        .version = op->body.manifest->version, .manifest = manifest_retain(op->body.manifest)};
}

static void land(struct world *world, uint32_t index)
{
    struct late_create late = world->late[index];
    world->late[index] = world->late[--world->late_count];
    create(world, late.version, late.manifest);
    manifest_release(late.manifest);
}

/* ---- choices ---- */

static bool creating(const struct machine *machine)
{
    return machine->alive && machine->busy && machine->commit.op.verb == STORE_PUT_IF_ABSENT;
}

static bool newest_incarnation(const struct world *world, uint32_t index)
{
    for (uint32_t i = index + 1; i < world->machine_count; i++)
        if (machine_producer(&world->machines[i]) == machine_producer(&world->machines[index]))
            return false;
    return true;
}

static void machine_choices(const struct world *world, uint32_t index, struct choice *choices,
                            uint32_t *count)
{
    const struct machine *machine = &world->machines[index];
    const struct world_bounds *bounds = &world->bounds;
    if (machine->alive && machine->busy)
        choices[(*count)++] = (struct choice){CHOICE_ANSWER, index};
    if (creating(machine) && world->unknowns < bounds->unknowns) {
        choices[(*count)++] = (struct choice){CHOICE_APPLIED_UNKNOWN, index};
        choices[(*count)++] = (struct choice){CHOICE_LOST_UNKNOWN, index};
        if (world->late_count < bounds->late)
            choices[(*count)++] = (struct choice){CHOICE_LATE_UNKNOWN, index};
    }
    if (machine->alive && world->crashes < bounds->crashes && world->late_count < bounds->late)
        choices[(*count)++] = (struct choice){CHOICE_CRASH, index};
    if (world->machine_count < bounds->machines && newest_incarnation(world, index))
        choices[(*count)++] = (struct choice){CHOICE_RESTART, machine_producer(machine)};
}

/* A reclaimer goes by the newest version that it has read. */
static void floor_choices(const struct world *world, struct choice *choices, uint32_t *count)
{
    for (uint32_t behind = world->bounds.floors_at_newest ? 0 : 1; behind <= 1; behind++)
        if (world->newest > world->floor.version + behind)
            choices[(*count)++] = (struct choice){CHOICE_RAISE_FLOOR, behind};
}

/* Nothing that can still happen changes what this operation finds. */
static bool commutes(const struct world *world, const struct machine *machine)
{
    const struct store_op *op = &machine->commit.op;
    uint64_t version;
    if (world->floors < world->bounds.floors)
        return false;
    if (op->verb == STORE_LIST)
        return strcmp(op->key, NAME_FLOOR_PREFIX) == 0;
    return op->verb == STORE_GET && name_parse_version(op->key, &version) &&
           version <= WORLD_VERSIONS_MAX && version >= world->floor.version &&
           world->stored[version];
}

/* An attempt begins without looking at the store; and a run in which it never begins is a run in
 * which nothing comes of it. */
static bool choose_one(const struct world *world, struct choice *choice)
{
    for (uint32_t i = 0; i < world->machine_count; i++) {
        const struct machine *machine = &world->machines[i];
        if (!machine->alive)
            continue;
        *choice = (struct choice){machine->busy ? CHOICE_ANSWER : CHOICE_BEGIN, i};
        if (machine->busy ? commutes(world, machine) : world->newest < world->bounds.versions)
            return true;
    }
    return false;
}

static uint32_t world_choices(const void *looked_at, struct choice choices[WORLD_CHOICES_MAX])
{
    const struct world *world = looked_at;
    uint32_t count = 0;
    if (world->problem[0] != '\0')
        return 0;
    if (choose_one(world, &choices[0]))
        return 1;
    for (uint32_t i = 0; i < world->machine_count; i++)
        machine_choices(world, i, choices, &count);
    for (uint32_t i = 0; i < world->late_count; i++)
        choices[count++] = (struct choice){CHOICE_LAND, i};
    if (world->floors < world->bounds.floors)
        floor_choices(world, choices, &count);
    for (uint32_t version = 1; version < world->floor.version; version++)
        if (world->stored[version])
            choices[count++] = (struct choice){CHOICE_DELETE, version};
    assert(count <= WORLD_CHOICES_MAX);
    return count;
}

static void crash(struct world *world, struct machine *machine)
{
    world->crashes++;
    if (creating(machine))
        send_late(world, machine);
    machine->alive = false;
}

static void raise_floor(struct world *world, uint64_t version)
{
    world->floors++;
    world->floor.version = version;
    world->floor.step = world->living[version]->first_step;
}

static void world_step(void *stepped, struct choice choice)
{
    struct world *world = stepped;
    enum choice_kind kind = choice.kind;
    world->zombie = false;
    struct machine *machine = &world->machines[choice.index % WORLD_MACHINES_MAX];
    switch (kind) {
    case CHOICE_ANSWER:
        answer(world, machine, apply(world, &machine->commit.op));
        break;
    case CHOICE_APPLIED_UNKNOWN:
        world->unknowns++;
        apply(world, &machine->commit.op);
        answer(world, machine, STORE_UNKNOWN);
        break;
    case CHOICE_LOST_UNKNOWN:
        world->unknowns++;
        answer(world, machine, STORE_UNKNOWN);
        break;
    case CHOICE_LATE_UNKNOWN:
        world->unknowns++;
        send_late(world, machine);
        answer(world, machine, STORE_UNKNOWN);
        break;
    case CHOICE_LAND:
        land(world, choice.index);
        break;
    case CHOICE_BEGIN:
        begin(world, machine);
        break;
    case CHOICE_CRASH:
        crash(world, machine);
        break;
    case CHOICE_RESTART:
        start_machine(world, choice.index);
        break;
    case CHOICE_RAISE_FLOOR:
        raise_floor(world, world->newest - choice.index);
        break;
    case CHOICE_DELETE:
        manifest_release(world->stored[choice.index]);
        world->stored[choice.index] = NULL;
        break;
    }
}

/* ---- making, copying, hashing ---- */

static void world_open(void *opened, const void *chosen)
{
    struct world *world = opened;
    const struct world_bounds *bounds = chosen;
    *world = (struct world){.bounds = *bounds};
    assert(bounds->machines <= WORLD_MACHINES_MAX && bounds->late <= WORLD_LATE_MAX);
    /* Machines that began before the chain was full may still add a version each. */
    assert(bounds->versions + bounds->machines + 2 <= WORLD_VERSIONS_MAX);
    for (uint32_t i = 0; i < bounds->producers; i++)
        start_machine(world, i);
}

static void world_close(void *closed)
{
    struct world *world = closed;
    for (uint32_t i = 0; i < world->machine_count; i++) {
        commit_deinit(&world->machines[i].commit);
        batch_queue_deinit(&world->machines[i].queue);
    }
    for (uint32_t i = 0; i < world->late_count; i++)
        manifest_release(world->late[i].manifest);
    for (uint64_t version = 0; version <= WORLD_VERSIONS_MAX; version++) {
        manifest_release(world->stored[version]);
        manifest_release(world->living[version]);
    }
}

static struct manifest *retain(struct manifest *manifest)
{
    return manifest ? manifest_retain(manifest) : NULL;
}

static void copy_machine(struct machine *to, const struct machine *from)
{
    *to = *from;
    to->commit.queue = &to->queue;
    to->commit.known = retain(from->commit.known);
    to->commit.sent = retain(from->commit.sent);
    to->commit.op.page = (struct list_page){0};
    batch_queue_init(&to->queue);
    for (uint32_t i = 0; i < from->queue.count; i++) {
        const struct batch *batch = batch_queue_at(&from->queue, i);
        *batch_queue_push(&to->queue, batch->sequence) = *batch;
    }
    to->queue.ready = from->queue.ready;
}

static void world_copy(void *copy, const void *original)
{
    struct world *to = copy;
    const struct world *from = original;
    *to = *from;
    for (uint32_t i = 0; i < from->machine_count; i++)
        copy_machine(&to->machines[i], &from->machines[i]);
    for (uint32_t i = 0; i < from->late_count; i++)
        retain(from->late[i].manifest);
    for (uint64_t version = 0; version <= WORLD_VERSIONS_MAX; version++) {
        retain(from->stored[version]);
        retain(from->living[version]);
    }
}

static void world_describe(const void *described, struct choice choice, char text[WORLD_TEXT_MAX])
{
    const struct world *world = described;
    static const char *const names[] = {"answer",
                                        "apply, answer UNKNOWN",
                                        "lose, answer UNKNOWN",
                                        "delay, answer UNKNOWN",
                                        "late create lands",
                                        "begin",
                                        "crash",
                                        "restart producer",
                                        "raise the floor",
                                        "delete version"};
    if (choice.kind == CHOICE_RAISE_FLOOR) {
        snprintf(text, WORLD_TEXT_MAX, "%s to version %" PRIu64, names[choice.kind],
                 world->newest - choice.index);
        return;
    }
    if (choice.kind == CHOICE_RESTART || choice.kind == CHOICE_DELETE) {
        snprintf(text, WORLD_TEXT_MAX, "%s %" PRIu32, names[choice.kind], choice.index);
        return;
    }
    if (choice.kind == CHOICE_LAND) {
        snprintf(text, WORLD_TEXT_MAX, "%s: version %" PRIu64, names[choice.kind],
                 world->late[choice.index].version);
        return;
    }
    const struct machine *machine = &world->machines[choice.index];
    snprintf(text, WORLD_TEXT_MAX, "producer %" PRIu32 " incarnation %d: %s %s %s",
             machine_producer(machine), machine->commit.options.incarnation.bytes[0],
             names[choice.kind], machine->busy ? store_verb_name(machine->commit.op.verb) : "",
             machine->busy ? machine->commit.op.key : "");
}

static const char *world_problem(const void *world)
{
    return ((const struct world *)world)->problem;
}

static uint64_t world_events(const void *world)
{
    return ((const struct world *)world)->zombie ? 1 : 0;
}

const struct world_kind commit_world = {
    .world_bytes = sizeof(struct world),
    .open = world_open,
    .close = world_close,
    .copy = world_copy,
    .choices = world_choices,
    .step = world_step,
    .problem = world_problem,
    .hash = world_hash,
    .describe = world_describe,
    .events = world_events,
    .event_names = {"landings below the floor"},
};
