/* s3_audit.c - see s3_audit.h. */
#include "tests/backend/s3_audit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CHAIN_BATCH_BYTES 40

__attribute__((format(printf, 2, 3))) static void problem(struct audit *audit, const char *format,
                                                          ...)
{
    if (audit->problem[0] != '\0')
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(audit->problem, sizeof(audit->problem), format, list);
    va_end(list);
    fprintf(stderr, "audit: %s\n", audit->problem);
}

/* NULL: missing or damaged. */
static struct manifest *read_version(struct hostile_server *server, uint64_t version,
                                     enum manifest_error *error)
{
    char key[STORE_KEY_MAX], full[HOSTILE_KEY_MAX];
    size_t bytes;
    struct manifest *manifest = NULL;
    name_version(key, version);
    snprintf(full, sizeof(full), WORLD_PREFIX "/%s", key);
    uint8_t *data = hostile_server_get(server, full, &bytes);
    *error = MANIFEST_TRUNCATED;
    if (data == NULL)
        return NULL;
    *error = manifest_decode(data, bytes, &manifest);
    free(data);
    return *error == MANIFEST_OK ? manifest : NULL;
}

/* ---- what is named is there ---- */

struct walk {
    struct audit *audit;
    struct hostile_server *server;
    struct walk_stream {
        uint64_t sequence;
        uint64_t offset;
    } streams[WORLD_PRODUCERS_MAX * 4];
};

static void visit(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct walk *walk = context;
    char key[STORE_KEY_MAX], full[HOSTILE_KEY_MAX];
    size_t bytes;
    const struct tgb_name *name = &entry->tgb;
    assert(name->producer < WORLD_PRODUCERS_MAX * 4);
    struct walk_stream *stream = &walk->streams[name->producer];
    stream->offset += entry->tgb_bytes;
    if (name->sequence != ++stream->sequence || name->end_offset != stream->offset)
        problem(walk->audit, "step %" PRIu64 ": batch %" PRIu64 " of %u is lost, twice or moved",
                step, name->sequence, name->producer);
    name_tgb(key, name);
    snprintf(full, sizeof(full), WORLD_PREFIX "/%s", key);
    uint8_t *data = hostile_server_get(walk->server, full, &bytes);
    if (data == NULL || bytes != entry->tgb_bytes ||
        XXH3_64bits(data, bytes) != entry->tgb_checksum)
        problem(walk->audit, "step %" PRIu64 ": %s is missing or damaged", step, key);
    free(data);
}

static void check_batches(struct audit *audit, struct hostile_server *server)
{
    struct walk *walk = calloc(1, sizeof(*walk));
    assert(walk != NULL);
    walk->audit = audit;
    walk->server = server;
    manifest_visit_entries(audit->last, audit->last->first_step, visit, walk);
    for (uint32_t i = 0; i < manifest_state_count(audit->last); i++) {
        const struct producer_state *state = manifest_state_at(audit->last, i);
        if (walk->streams[state->producer].sequence != state->last_sequence)
            problem(audit, "producer %u is at %" PRIu64 ", its batches end at %" PRIu64,
                    state->producer, state->last_sequence, walk->streams[state->producer].sequence);
    }
    free(walk);
}

/* ---- versions ---- */

static void check_link(struct audit *audit, const struct manifest *base,
                       const struct manifest *next)
{
    if (next->base_version != base->version || next->base_checksum != base->checksum ||
        next->next_step < base->next_step || next->first_step < base->first_step)
        problem(audit, "version %" PRIu64 " is not built on the one before", next->version);
    for (uint32_t i = 0; i < manifest_state_count(base); i++) {
        const struct producer_state *before = manifest_state_at(base, i);
        const struct producer_state *after = manifest_state_find(next, before->producer);
        bool author = before->producer == next->author.producer;
        if (after == NULL || after->epoch < before->epoch ||
            (!author && (after->last_sequence != before->last_sequence ||
                         after->next_offset != before->next_offset)))
            problem(audit, "version %" PRIu64 " changes producer %u", next->version,
                    before->producer);
    }
}

void audit_init(struct audit *audit, struct hostile_server *server)
{
    char key[HOSTILE_KEY_MAX];
    const char *prefix = WORLD_PREFIX "/" NAME_MANIFEST_PREFIX;
    *audit = (struct audit){0};
    snprintf(key, sizeof(key), "%s", prefix);
    while (hostile_server_next_key(server, prefix, key, key)) {
        enum manifest_error error;
        uint64_t version;
        if (!name_parse_version(key + strlen(WORLD_PREFIX "/"), &version))
            continue;
        audit->versions++;
        if (audit->newest != 0 && version != audit->newest + 1)
            problem(audit, "version %" PRIu64 " follows %" PRIu64, version, audit->newest);
        struct manifest *next = read_version(server, version, &error);
        if (next == NULL || next->version != version)
            problem(audit, "version %" PRIu64 ": %s", version, manifest_error_text(error));
        else if (audit->last != NULL)
            check_link(audit, audit->last, next);
        manifest_release(audit->last);
        audit->last = next;
        audit->newest = version;
    }
    if (audit->last == NULL)
        return;
    audit->batches = manifest_live_entries(audit->last);
    check_batches(audit, server);
}

void audit_deinit(struct audit *audit)
{
    manifest_release(audit->last);
    *audit = (struct audit){0};
}

uint64_t audit_versions_of(struct hostile_server *server, const struct incarnation *incarnation)
{
    char key[HOSTILE_KEY_MAX] = WORLD_PREFIX "/" NAME_MANIFEST_PREFIX;
    const char *prefix = WORLD_PREFIX "/" NAME_MANIFEST_PREFIX;
    uint64_t count = 0;
    while (hostile_server_next_key(server, prefix, key, key)) {
        enum manifest_error error;
        uint64_t version;
        if (!name_parse_version(key + strlen(WORLD_PREFIX "/"), &version))
            continue;
        struct manifest *manifest = read_version(server, version, &error);
        if (manifest != NULL &&
            memcmp(&manifest->author.incarnation, incarnation, INCARNATION_BYTES) == 0)
            count++;
        manifest_release(manifest);
    }
    return count;
}

/* ---- chains made by hand ---- */

static void store_manifest(struct hostile_server *server, struct manifest *manifest)
{
    char key[STORE_KEY_MAX], full[HOSTILE_KEY_MAX];
    uint64_t bytes = manifest_encoded_bytes(manifest);
    uint8_t *data = malloc(bytes);
    assert(data != NULL);
    manifest->checksum = manifest_encode(manifest, data);
    name_version(key, manifest->version);
    snprintf(full, sizeof(full), WORLD_PREFIX "/%s", key);
    hostile_server_put(server, full, data, bytes);
    free(data);
}

static void store_batch(struct hostile_server *server, struct manifest_entry *entry)
{
    char key[STORE_KEY_MAX], full[HOSTILE_KEY_MAX];
    uint8_t data[CHAIN_BATCH_BYTES] = {0};
    memcpy(data, &entry->tgb.sequence, sizeof(entry->tgb.sequence));
    entry->tgb_bytes = sizeof(data);
    entry->tgb_checksum = XXH3_64bits(data, sizeof(data));
    name_tgb(key, &entry->tgb);
    snprintf(full, sizeof(full), WORLD_PREFIX "/%s", key);
    hostile_server_put(server, full, data, sizeof(data));
}

/* The first version of a producer is its fencing, without a batch. */
static struct manifest *grow(struct hostile_server *server, struct manifest *base,
                             uint32_t producer, size_t entries)
{
    const struct producer_state *before = manifest_state_find(base, producer);
    struct manifest_change change = {
        .author = {.producer = producer, .epoch = 1, .attempt = base->version},
        .first_step = 1,
        .state = {.producer = producer, .epoch = 1, .last_commit_version = base->version + 1},
    };
    memset(&change.author.incarnation, 0xfe, INCARNATION_BYTES);
    change.state.incarnation = change.author.incarnation;
    struct manifest_entry entry = {0};
    if (before != NULL) {
        change.state.last_sequence = before->last_sequence;
        change.state.next_offset = before->next_offset;
        change.state.last_commit_ns = before->last_commit_ns;
    }
    if (before != NULL && entries > 0) {
        change.state.last_sequence++;
        change.state.next_offset += CHAIN_BATCH_BYTES;
        entry.tgb = (struct tgb_name){.sequence = change.state.last_sequence,
                                      .end_offset = change.state.next_offset,
                                      .incarnation = change.author.incarnation,
                                      .producer = producer,
                                      .epoch = 1};
        store_batch(server, &entry);
        change.entry_count = 1;
        change.entries = &entry;
    }
    struct manifest *next = manifest_append(base, &change);
    store_manifest(server, next);
    manifest_release(base);
    return next;
}

struct manifest *chain_store(struct hostile_server *server, const struct chain_options *options)
{
    struct manifest *manifest = manifest_genesis(
        options->entry_bytes != 0 ? options->entry_bytes : MANIFEST_ENTRY_BYTES_MIN);
    store_manifest(server, manifest);
    while (manifest->version < options->versions) {
        bool full =
            options->batches_max != 0 && manifest_live_entries(manifest) >= options->batches_max;
        manifest = grow(server, manifest, options->producer, full ? 0 : 1);
    }
    return manifest;
}

struct manifest *chain_grow(struct hostile_server *server, struct manifest *base, uint32_t producer,
                            size_t batches)
{
    assert(batches <= 1);
    return grow(server, base, producer, batches);
}
