/* live_marker.c - see live_marker.h. Ours. */
#include "experiments/live/live_marker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "experiments/config/mesh.h"
#include "experiments/live/live_request.h"
#include "experiments/trials/progress.h"

#define MARKER_BYTES_MAX 65536
#define IDENTITY_MAX 33

/* ---- reading ---- */

static enum live_marker parse_marker(const char *key, const struct body *body, json_t **marker,
                                     char error[STORE_ERROR_MAX])
{
    json_error_t reason;
    json_t *parsed =
        json_loadb((const char *)body->data, body->bytes, JSON_REJECT_DUPLICATES, &reason);
    if (json_is_integer(json_object_get(parsed, "format")) &&
        json_is_integer(json_object_get(parsed, "entry_bytes")) &&
        json_is_string(json_object_get(parsed, "payload"))) {
        *marker = parsed;
        return LIVE_MARKER_FOUND;
    }
    char harmless[101]; /* the reason quotes what it read */
    live_marker_copy_harmless(harmless, sizeof(harmless), reason.text);
    snprintf(error, STORE_ERROR_MAX, "%s is damaged: %s", key,
             parsed != NULL ? "it lacks format, entry_bytes or payload" : harmless);
    json_decref(parsed);
    return LIVE_MARKER_DAMAGED;
}

enum live_marker live_marker_read(struct live_session *session, json_t **marker,
                                  char error[STORE_ERROR_MAX])
{
    return live_marker_read_key(session, LIVE_MARKER_KEY, marker, error);
}

enum live_marker live_marker_read_key(struct live_session *session, const char *key,
                                      json_t **marker, char error[STORE_ERROR_MAX])
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_GET;
    op.range_bytes = MARKER_BYTES_MAX; /* whatever its size is */
    snprintf(op.key, sizeof(op.key), "%s", key);
    live_request(session, &op);
    enum live_marker result = LIVE_MARKER_FAILED;
    if (op.outcome == STORE_OK)
        result = parse_marker(key, &op.result, marker, error);
    else if (op.outcome == STORE_NOT_FOUND)
        result = LIVE_MARKER_MISSING;
    else
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    return result;
}

/* UTF-8 of U+0080 to U+009F, which terminals obey as they do ESC and a letter. */
static bool is_c1(const char *text)
{
    return (unsigned char)text[0] == 0xc2 && ((unsigned char)text[1] & 0xe0) == 0x80;
}

void live_marker_copy_harmless(char *copy, size_t capacity, const char *text)
{
    snprintf(copy, capacity, "%s", text != NULL ? text : "");
    for (; *copy != '\0'; copy++) {
        if ((unsigned char)*copy < 0x20 || *copy == 0x7f)
            *copy = '?';
        if (is_c1(copy))
            copy[0] = copy[1] = '?';
    }
}

void live_marker_identify(const json_t *marker, struct live_identity *identity)
{
    const json_t *seed = json_object_get(marker, "seed");
    const char *arm = json_string_value(json_object_get(marker, "arm"));
    *identity = (struct live_identity){0};
    if (arm == NULL || !json_is_integer(seed) || json_integer_value(seed) < 0)
        return;
    live_marker_copy_harmless(identity->experiment, sizeof(identity->experiment),
                              json_string_value(json_object_get(marker, "experiment")));
    live_marker_copy_harmless(identity->arm, sizeof(identity->arm), arm);
    live_marker_copy_harmless(identity->started, sizeof(identity->started),
                              json_string_value(json_object_get(marker, "started")));
    identity->seed = (uint64_t)json_integer_value(seed);
}

bool live_marker_mesh(const json_t *marker, struct tgb_mesh *mesh)
{
    const json_t *value = json_object_get(marker, "mesh");
    struct diagnostic ignored;
    *mesh = (struct tgb_mesh){0};
    return value == NULL ||
           (json_is_string(value) && mesh_parse(json_string_value(value), mesh, &ignored));
}

/* Its slices are those that are asked for. */
static enum open_result mesh_agrees(struct tgb_mesh mesh, struct tgb_mesh wanted, const char *url,
                                    char error[LIVE_MARKER_TEXT_MAX])
{
    char of_run[UNIT_TEXT_MAX];
    char of_config[UNIT_TEXT_MAX];
    if (mesh.data == wanted.data && mesh.context == wanted.context)
        return OPEN_OK;
    mesh_print(mesh, of_run);
    mesh_print(wanted, of_config);
    snprintf(error, LIVE_MARKER_TEXT_MAX,
             "%s has TGBs of mesh %s, the config says %s; add --set tgb.mesh=%s to go on there",
             url, of_run, of_config, of_run);
    return OPEN_BAD_INPUT;
}

enum open_result live_marker_agrees(const json_t *marker, const struct live_marker_options *options,
                                    const char *url, char error[LIVE_MARKER_TEXT_MAX])
{
    long long format = json_integer_value(json_object_get(marker, "format"));
    long long entry = json_integer_value(json_object_get(marker, "entry_bytes"));
    const char *payload = json_string_value(json_object_get(marker, "payload"));
    bool known =
        strcmp(payload, LIVE_PAYLOAD_SYNTHETIC) == 0 || strcmp(payload, LIVE_PAYLOAD_FILES) == 0;
    struct tgb_mesh mesh;
    if (format != LIVE_FORMAT || !known || !live_marker_mesh(marker, &mesh)) {
        char harmless[CONFIG_NAME_MAX];
        live_marker_copy_harmless(harmless, sizeof(harmless), payload);
        snprintf(error, LIVE_MARKER_TEXT_MAX,
                 "%s was made by another version of this program (format %lld, payload %s); go on "
                 "with that version, or start a new run in another place",
                 url, format, harmless);
        return OPEN_BAD_INPUT;
    }
    if (strcmp(payload, options->payload) != 0) {
        snprintf(error, LIVE_MARKER_TEXT_MAX,
                 "%s is a run whose payload is %s, and this would add %s; start a new run in "
                 "another place",
                 url, payload, options->payload);
        return OPEN_BAD_INPUT;
    }
    if ((uint64_t)entry != options->entry_bytes) {
        snprintf(error, LIVE_MARKER_TEXT_MAX,
                 "%s has manifest entries of %lld B, the config says %llu B; add --set "
                 "manifest.entry=%lldB to go on there",
                 url, entry, (unsigned long long)options->entry_bytes, entry);
        return OPEN_BAD_INPUT;
    }
    return mesh_agrees(mesh, options->mesh, url, error);
}

/* ---- making ---- */

/* The caller frees it. */
static char *marker_text(const struct live_marker_options *options, const char *identity)
{
    char started[PROGRESS_TEXT_MAX];
    char mesh[UNIT_TEXT_MAX];
    progress_time_text(started);
    mesh_print(options->mesh, mesh);
    json_t *marker = json_object();
    json_object_set_new(marker, "format", json_integer(LIVE_FORMAT));
    json_object_set_new(marker, "layout", json_string("full"));
    json_object_set_new(marker, "entry_bytes", json_integer((json_int_t)options->entry_bytes));
    json_object_set_new(marker, "payload", json_string(options->payload));
    json_object_set_new(marker, "mesh", json_string(mesh));
    json_object_set_new(marker, "identity", json_string(identity));
    json_object_set_new(marker, "experiment", json_string(options->experiment));
    json_object_set_new(marker, "arm", json_string(options->arm));
    json_object_set_new(marker, "seed", json_integer((json_int_t)options->seed));
    json_object_set_new(marker, "producers", json_integer((json_int_t)options->producers));
    json_object_set_new(marker, "started", json_string(started));
    char *text = json_dumps(marker, JSON_INDENT(2));
    assert(text != NULL);
    json_decref(marker);
    return text;
}

/* Whether anything is below the prefix already. */
static enum live_claim check_empty(struct live_session *session, char error[STORE_ERROR_MAX])
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_LIST;
    op.list_keys_max = 1;
    live_request(session, &op);
    enum live_claim claim = LIVE_CLAIM_FAILED;
    if (op.outcome == STORE_OK)
        claim = op.page.count > 0 ? LIVE_CLAIM_TAKEN : LIVE_CLAIMED;
    else
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    return claim;
}

/* Whether the stored marker is the one that this process sent: decides after EXISTS and UNKNOWN. */
static enum live_claim check_mine(struct live_session *session, const char *identity,
                                  char error[STORE_ERROR_MAX])
{
    json_t *marker = NULL;
    switch (live_marker_read(session, &marker, error)) {
    case LIVE_MARKER_FOUND:
        break;
    case LIVE_MARKER_DAMAGED:
        return LIVE_CLAIM_TAKEN;
    case LIVE_MARKER_MISSING:
        snprintf(error, STORE_ERROR_MAX, "%s could not be made", LIVE_MARKER_KEY);
        return LIVE_CLAIM_FAILED;
    case LIVE_MARKER_FAILED:
        return LIVE_CLAIM_FAILED;
    }
    const char *stored = json_string_value(json_object_get(marker, "identity"));
    bool mine = stored != NULL && strcmp(stored, identity) == 0;
    json_decref(marker);
    return mine ? LIVE_CLAIMED : LIVE_CLAIM_TAKEN;
}

void live_marker_draw(char *identity, size_t capacity)
{
    uint8_t bytes[(IDENTITY_MAX - 1) / 2];
    size_t count = (capacity - 1) / 2;
    assert(capacity % 2 == 1 && count > 0 && count <= sizeof(bytes));
    ssize_t drawn = getrandom(bytes, count, 0);
    assert(drawn == (ssize_t)count);
    for (size_t i = 0; i < count; i++)
        snprintf(identity + 2 * i, 3, "%02x", bytes[i]);
}

enum live_claim live_marker_make(struct live_session *session,
                                 const struct live_marker_options *options,
                                 char error[STORE_ERROR_MAX])
{
    char identity[IDENTITY_MAX];
    enum live_claim claim = check_empty(session, error);
    if (claim != LIVE_CLAIMED)
        return claim;
    live_marker_draw(identity, sizeof(identity));
    char *text = marker_text(options, identity);
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_PUT_IF_ABSENT;
    op.body = (struct body){
        .kind = BODY_BYTES, .bytes = strlen(text), .data = (uint8_t *)(uintptr_t)text};
    snprintf(op.key, sizeof(op.key), "%s", LIVE_MARKER_KEY);
    live_request(session, &op);
    if (op.outcome == STORE_FAILED) {
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(&op));
        claim = LIVE_CLAIM_FAILED;
    } else if (op.outcome != STORE_OK) {
        claim = check_mine(session, identity, error);
    }
    store_op_deinit(&op);
    free(text);
    return claim;
}
