/* yaml_reader.c - libyaml's events, flattened. Method: recursive descent over events, with the key
 * so far in one buffer; ours is only the strictness. */
#include "experiments/config/yaml_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* some editors write it; skipped */
#define NOT_A_FILE (-1)                /* beside the errnos */

/* libyaml names its enumerators YAML_..._EVENT; ours do not collide with them. */

struct reader {
    yaml_parser_t parser;
    const char *path;
    const char *bytes;
    struct yaml_file *file;
    struct diagnostic *diagnostic;
    char key[YAML_KEY_MAX];
    size_t key_length;
    int depth;
};

struct place {
    uint32_t line;
    uint32_t column;
};

static struct place place_of(yaml_mark_t mark)
{
    return (struct place){(uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
}

/* The place of a byte; columns count characters, as libyaml's do. */
static struct place place_at(const char *bytes, size_t offset)
{
    struct place place = {1, 1};
    for (size_t i = 0; i < offset; i++) {
        if (bytes[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)bytes[i] & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

__attribute__((format(printf, 3, 4))) static bool refuse(struct reader *reader, struct place place,
                                                         const char *format, ...)
{
    char message[DIAGNOSTIC_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    diagnostic_set(reader->diagnostic, "%s:%u:%u: %s", reader->path, place.line, place.column,
                   message);
    return false;
}

static bool refuse_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "out of memory";
    if (parser->error == YAML_READER_ERROR) {
        return refuse(reader, place_at(reader->bytes, parser->problem_offset),
                      "%s; a config is plain UTF-8 text", problem);
    }
    return refuse(reader, place_of(parser->problem_mark), "not valid YAML: %s%s%s", problem,
                  parser->context != NULL ? " " : "",
                  parser->context != NULL ? parser->context : "");
}

/* The next event, refusing what is refused everywhere. The caller deletes it on true. */
static bool next_event(struct reader *reader, yaml_event_t *event)
{
    if (!yaml_parser_parse(&reader->parser, event))
        return refuse_syntax(reader);
    const yaml_char_t *anchor = NULL;
    const yaml_char_t *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_ALIAS_EVENT) {
        refuse(reader, place_of(event->start_mark), "alias '*%.64s': write the value out",
               (const char *)event->data.alias.anchor);
        yaml_event_delete(event);
        return false;
    }
    if (anchor == NULL && tag == NULL)
        return true;
    refuse(reader, place_of(event->start_mark), "%s '%s%.64s': configs have none; remove it",
           anchor != NULL ? "anchor" : "tag", anchor != NULL ? "&" : "",
           (const char *)(anchor != NULL ? anchor : tag));
    yaml_event_delete(event);
    return false;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    assert(copy != NULL);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* Adds a node under the key so far. The value is copied. */
static bool add_node(struct reader *reader, enum yaml_node_kind kind, const yaml_event_t *event,
                     struct place key_place)
{
    struct yaml_file *file = reader->file;
    struct place place = place_of(event->start_mark);
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->nodes[i].key, reader->key) == 0) {
            return refuse(reader, key_place, "duplicate key '%s': it is also on line %u",
                          reader->key, file->nodes[i].key_line);
        }
    }
    if (file->count == YAML_NODES_MAX)
        return refuse(reader, place, "more than %d settings", YAML_NODES_MAX);
    if (file->count == file->capacity) {
        file->capacity = file->capacity > 0 ? 2 * file->capacity : 64;
        file->nodes = realloc(file->nodes, file->capacity * sizeof(file->nodes[0]));
        assert(file->nodes != NULL);
    }
    file->nodes[file->count++] = (struct yaml_node){
        .kind = kind,
        .key = copy_text(reader->key, reader->key_length),
        .value = kind == YAML_SCALAR
                     ? copy_text((const char *)event->data.scalar.value, event->data.scalar.length)
                     : NULL,
        .line = place.line,
        .column = place.column,
        .key_line = key_place.line,
        .key_column = key_place.column,
    };
    return true;
}

/* Appends to the key so far; the caller cuts it back. */
static bool push_key(struct reader *reader, struct place place, const char *text)
{
    size_t length = strlen(text);
    if (reader->key_length + length >= sizeof(reader->key)) {
        return refuse(reader, place, "the key '%.32s...' is longer than %d characters",
                      reader->key_length > 0 ? reader->key : text, YAML_KEY_MAX - 1);
    }
    memcpy(reader->key + reader->key_length, text, length + 1);
    reader->key_length += length;
    return true;
}

static void cut_key(struct reader *reader, size_t length)
{
    reader->key_length = length;
    reader->key[length] = '\0';
}

static bool key_is_clean(const char *key, size_t length)
{
    if (length == 0 || key[0] == '.' || key[length - 1] == '.' || strlen(key) != length)
        return false;
    return strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == length &&
           strstr(key, "..") == NULL;
}

static bool read_value(struct reader *reader, const yaml_event_t *event, struct place key_place);

static bool read_scalar(struct reader *reader, const yaml_event_t *event, struct place key_place)
{
    size_t length = event->data.scalar.length;
    struct place place = place_of(event->start_mark);
    const char *value = (const char *)event->data.scalar.value;
    if (length == 0)
        return refuse(reader, place, "'%s' needs a value", reader->key);
    if (length >= YAML_VALUE_MAX) {
        return refuse(reader, place, "the value of '%s' is longer than %d bytes", reader->key,
                      YAML_VALUE_MAX - 1);
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)value[i] < 0x20 || value[i] == 0x7f) {
            return refuse(reader, place,
                          "the value of '%s' holds a line break or control character", reader->key);
        }
    }
    return add_node(reader, YAML_SCALAR, event, key_place);
}

/* One key of a mapping, and its value. */
static bool read_pair(struct reader *reader, const yaml_event_t *key)
{
    struct place place = place_of(key->start_mark);
    if (key->type != YAML_SCALAR_EVENT) {
        return refuse(reader, place, "a key must be plain text, found a %s",
                      key->type == YAML_MAPPING_START_EVENT ? "mapping" : "list");
    }
    const char *text = (const char *)key->data.scalar.value;
    if (!key_is_clean(text, key->data.scalar.length)) {
        return refuse(reader, place, "'%.64s' is not a key: keys hold a-z, 0-9, _, - and dots",
                      text);
    }
    size_t before = reader->key_length;
    yaml_event_t event;
    if ((before > 0 && !push_key(reader, place, ".")) || !push_key(reader, place, text) ||
        !next_event(reader, &event))
        return false;
    bool ok = read_value(reader, &event, place);
    yaml_event_delete(&event);
    cut_key(reader, before);
    return ok;
}

static bool read_item(struct reader *reader, const yaml_event_t *event, size_t index)
{
    char text[32];
    snprintf(text, sizeof(text), "[%zu]", index);
    size_t before = reader->key_length;
    struct place place = place_of(event->start_mark);
    bool ok = push_key(reader, place, text) && read_value(reader, event, place);
    cut_key(reader, before);
    return ok;
}

/* What a mapping or a list holds, up to its end event. */
static bool read_collection(struct reader *reader, const yaml_event_t *start)
{
    bool mapping = start->type == YAML_MAPPING_START_EVENT;
    yaml_event_type_t end = mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    struct place place = place_of(start->start_mark);
    if (reader->depth == YAML_DEPTH_MAX)
        return refuse(reader, place, "nested deeper than %d levels", YAML_DEPTH_MAX);
    reader->depth++;
    bool ok = true;
    bool ended = false;
    for (size_t index = 0; ok && !ended; index++) {
        yaml_event_t event;
        if (!next_event(reader, &event))
            return false;
        ended = event.type == end;
        if (ended && index == 0)
            ok = refuse(reader, place, "'%s' is empty: give it a value or remove it", reader->key);
        else if (!ended)
            ok = mapping ? read_pair(reader, &event) : read_item(reader, &event, index);
        yaml_event_delete(&event);
    }
    reader->depth--;
    return ok;
}

static bool read_value(struct reader *reader, const yaml_event_t *event, struct place key_place)
{
    if (event->type == YAML_SCALAR_EVENT)
        return read_scalar(reader, event, key_place);
    assert(event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT);
    bool mapping = event->type == YAML_MAPPING_START_EVENT;
    return add_node(reader, mapping ? YAML_MAPPING : YAML_LIST, event, key_place) &&
           read_collection(reader, event);
}

/* The root of the document is the mapping of top-level keys. */
static bool read_root(struct reader *reader)
{
    yaml_event_t event;
    if (!next_event(reader, &event))
        return false;
    bool ok;
    if (event.type == YAML_SCALAR_EVENT && event.data.scalar.length == 0) {
        ok = refuse(reader, place_of(event.start_mark), "the document is empty");
    } else if (event.type != YAML_MAPPING_START_EVENT) {
        ok = refuse(reader, place_of(event.start_mark),
                    "expected 'key: value' lines at the top, found %s",
                    event.type == YAML_SCALAR_EVENT ? "plain text" : "a list");
    } else {
        ok = read_value(reader, &event, place_of(event.start_mark));
    }
    yaml_event_delete(&event);
    return ok;
}

/* Skips one event that the grammar fixes; its type is returned. */
static bool skip_event(struct reader *reader, yaml_event_type_t *type, struct place *place)
{
    yaml_event_t event;
    if (!next_event(reader, &event))
        return false;
    *type = event.type;
    *place = place_of(event.start_mark);
    yaml_event_delete(&event);
    return true;
}

static bool read_stream(struct reader *reader)
{
    yaml_event_type_t type;
    struct place place;
    if (!skip_event(reader, &type, &place) || !skip_event(reader, &type, &place))
        return false;
    if (type == YAML_STREAM_END_EVENT) {
        return refuse(reader, (struct place){1, 1},
                      "the file is empty; configs/experiments holds examples");
    }
    if (!read_root(reader) || !skip_event(reader, &type, &place) ||
        !skip_event(reader, &type, &place))
        return false;
    return type == YAML_STREAM_END_EVENT ||
           refuse(reader, place, "a second document: a config is one document");
}

/* Bytes of the UTF-8 sequence at the start; 0: not one. Overlong forms and surrogates are left to
 * libyaml, which refuses them too. */
static size_t utf8_bytes(const char *bytes, size_t size)
{
    unsigned char first = (unsigned char)bytes[0];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length > size || first > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static bool check_bytes(struct reader *reader, const char *bytes, size_t size)
{
    if (size > YAML_BYTES_MAX) {
        diagnostic_set(reader->diagnostic, "%s: larger than 1 MiB: not a config", reader->path);
        return false;
    }
    for (size_t i = 0; i < size;) {
        size_t length = utf8_bytes(bytes + i, size - i);
        if (length == 0 || bytes[i] == '\0') {
            return refuse(reader, place_at(bytes, i), "byte 0x%02x: a config is plain UTF-8 text",
                          (unsigned)(unsigned char)bytes[i]);
        }
        i += length;
    }
    return true;
}

bool yaml_file_parse(const char *path, const char *bytes, size_t size, struct yaml_file *file,
                     struct diagnostic *diagnostic)
{
    struct reader reader = {
        .path = path,
        .bytes = bytes,
        .file = file,
        .diagnostic = diagnostic,
    };
    *file = (struct yaml_file){0};
    if (size >= strlen(BYTE_ORDER_MARK) &&
        memcmp(bytes, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
        reader.bytes = bytes += strlen(BYTE_ORDER_MARK);
        size -= strlen(BYTE_ORDER_MARK);
    }
    if (!check_bytes(&reader, bytes, size))
        return false;
    int made = yaml_parser_initialize(&reader.parser);
    assert(made);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)bytes, size);
    bool ok = read_stream(&reader);
    yaml_parser_delete(&reader.parser);
    if (!ok)
        yaml_file_deinit(file);
    return ok;
}

static bool refuse_errno(struct diagnostic *diagnostic, const char *path, int error)
{
    const char *advice = "check the file and its disk";
    if (error == ENOENT || error == ENOTDIR)
        advice = "check the path; configs/experiments holds the experiments that are shipped";
    else if (error == EACCES || error == EPERM)
        advice = "make it and its directories readable for this user (chmod a+r)";
    else if (error == EISDIR)
        advice = "name a file in it";
    if (error == NOT_A_FILE)
        diagnostic_set(diagnostic, "%s: not a plain file: write the config into one", path);
    else
        diagnostic_set(diagnostic, "%s: cannot read: %s; %s", path, strerror(error), advice);
    return false;
}

static int check_kind(int file)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    return S_ISREG(status.st_mode) ? 0 : NOT_A_FILE;
}

/* Reads at most one byte more than a config may have. The caller frees *bytes. 0, an errno, or
 * NOT_A_FILE: a pipe or device may be endless, or wait for somebody to write. */
static int read_bytes(const char *path, char **bytes, size_t *size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return errno;
    int error = check_kind(file);
    size_t used = 0;
    char *buffer = malloc(YAML_BYTES_MAX + 1);
    assert(buffer != NULL);
    while (error == 0 && used <= YAML_BYTES_MAX) {
        ssize_t got = read(file, buffer + used, YAML_BYTES_MAX + 1 - used);
        if (got == 0)
            break;
        if (got > 0)
            used += (size_t)got;
        else if (errno != EINTR)
            error = errno;
    }
    close(file);
    if (error != 0) {
        free(buffer);
        return error;
    }
    *bytes = buffer;
    *size = used;
    return 0;
}

bool yaml_file_read(const char *path, struct yaml_file *file, struct diagnostic *diagnostic)
{
    char *bytes = NULL;
    size_t size = 0;
    *file = (struct yaml_file){0};
    int error = read_bytes(path, &bytes, &size);
    if (error != 0)
        return refuse_errno(diagnostic, path, error);
    bool ok = yaml_file_parse(path, bytes, size, file, diagnostic);
    free(bytes);
    return ok;
}

void yaml_file_deinit(struct yaml_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        free(file->nodes[i].key);
        free(file->nodes[i].value);
    }
    free(file->nodes);
    *file = (struct yaml_file){0};
}
