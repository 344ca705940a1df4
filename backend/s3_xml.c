/* s3_xml.c - see s3_xml.h. Method: expat, stopped by the handlers at the first thing that is not
 * as it should be; elements are told apart by their depth and name. Ours. */
#include "backend/s3_xml.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/s3_text.h"

#define KEY_DEPTH 3 /* ListBucketResult, Contents, Key */

struct document {
    XML_Parser parser;
    const char *root; /* that it must have */
    bool root_found;
    bool root_other;
    unsigned depth;
    /* Of the innermost element that was opened last. */
    char text[S3_XML_TEXT_MAX + 1];
    size_t text_bytes;
    /* Told of every element at its end: its depth (1: the root), name and text. */
    void (*element)(struct document *document, const char *name);
    char *why; /* STORE_ERROR_MAX bytes; set where a limit was passed */
};

__attribute__((format(printf, 2, 3))) static void refuse(struct document *document,
                                                         const char *format, ...)
{
    if (document->why[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(document->why, STORE_ERROR_MAX, format, arguments);
        va_end(arguments);
    }
    XML_StopParser(document->parser, XML_FALSE);
}

/* A namespace's prefix says nothing. */
static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon != NULL ? colon + 1 : name;
}

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct document *document = context;
    (void)attributes;
    document->depth++;
    document->text_bytes = 0;
    document->text[0] = '\0';
    if (document->depth == 1 && strcmp(local_name(name), document->root) == 0) {
        document->root_found = true;
    } else if (document->depth == 1) {
        document->root_other = true;
        char root[S3_CODE_MAX];
        s3_text_copy(name, strlen(name), root, sizeof(root));
        refuse(document, "a document <%s> is not a <%s>", root, document->root);
    }
    if (document->depth > S3_XML_DEPTH_MAX)
        refuse(document, "elements are nested more than %d deep", S3_XML_DEPTH_MAX);
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct document *document = context;
    document->element(document, local_name(name));
    document->depth--;
    document->text_bytes = 0;
    document->text[0] = '\0';
}

static void XMLCALL on_text(void *context, const XML_Char *text, int bytes)
{
    struct document *document = context;
    size_t length = (size_t)bytes;
    if (length > S3_XML_TEXT_MAX - document->text_bytes) {
        refuse(document, "an element holds more than %d bytes of text", S3_XML_TEXT_MAX);
        return;
    }
    memcpy(document->text + document->text_bytes, text, length);
    document->text_bytes += length;
    document->text[document->text_bytes] = '\0';
}

static void XMLCALL on_doctype(void *context, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int has_subset)
{
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_subset;
    refuse(context, "it has a document type, which S3's answers have not");
}

/* True: the whole body was read and is well-formed. */
static bool document_read(struct document *document, const uint8_t *body, size_t bytes)
{
    if (bytes > S3_XML_BYTES_MAX) {
        snprintf(document->why, STORE_ERROR_MAX, "it is larger than %d bytes", S3_XML_BYTES_MAX);
        return false;
    }
    document->parser = XML_ParserCreate(NULL);
    assert(document->parser != NULL);
    XML_SetUserData(document->parser, document);
    XML_SetElementHandler(document->parser, on_start, on_end);
    XML_SetCharacterDataHandler(document->parser, on_text);
    XML_SetStartDoctypeDeclHandler(document->parser, on_doctype);
    bool good = XML_Parse(document->parser, (const char *)body, (int)bytes, 1) == XML_STATUS_OK;
    if (!good && document->why[0] == '\0')
        snprintf(document->why, STORE_ERROR_MAX, "byte %lld: %s",
                 (long long)XML_GetCurrentByteIndex(document->parser),
                 XML_ErrorString(XML_GetErrorCode(document->parser)));
    XML_ParserFree(document->parser);
    return good && document->why[0] == '\0';
}

/* ---- errors ---- */

struct error_document {
    struct document document;
    struct s3_error *error;
};

static void error_element(struct document *document, const char *name)
{
    struct s3_error *error = ((struct error_document *)document)->error;
    const char *text = document->text;
    size_t bytes = document->text_bytes;
    if (document->depth != 2)
        return;
    if (strcmp(name, "Code") == 0) {
        s3_text_copy_whole(text, bytes, error->code, sizeof(error->code));
    } else if (strcmp(name, "Message") == 0) {
        char whole[S3_XML_TEXT_MAX + 1];
        s3_text_copy(text, bytes, whole, sizeof(whole));
        s3_text_hide(whole);
        s3_text_copy(whole, strlen(whole), error->message, sizeof(error->message));
    } else if (strcmp(name, "RequestId") == 0) {
        s3_text_copy_whole(text, bytes, error->request_id, sizeof(error->request_id));
    } else if (strcmp(name, "Region") == 0) {
        s3_text_copy_whole(text, bytes, error->region, sizeof(error->region));
    } else if (strcmp(name, "Endpoint") == 0) {
        s3_text_copy_whole(text, bytes, error->endpoint, sizeof(error->endpoint));
    } else if (strcmp(name, "ServerTime") == 0) {
        s3_text_copy_whole(text, bytes, error->server_time, sizeof(error->server_time));
    } else if (strcmp(name, "ActualObjectSize") == 0) {
        uint64_t number;
        if (s3_text_number(text, bytes, INT64_MAX, &number))
            error->object_bytes = (int64_t)number;
    }
}

enum s3_xml s3_xml_error(const uint8_t *body, size_t bytes, struct s3_error *error)
{
    char why[STORE_ERROR_MAX] = "";
    struct error_document reading = {
        .document = {.root = "Error", .element = error_element, .why = why}, .error = error};
    *error = (struct s3_error){.object_bytes = -1};
    if (bytes == 0)
        return S3_XML_MALFORMED;
    bool whole = document_read(&reading.document, body, bytes);
    if (reading.document.root_found)
        return S3_XML_OK;
    assert(!whole);
    return reading.document.root_other ? S3_XML_OTHER : S3_XML_MALFORMED;
}

/* ---- listings ---- */

/* Keys as they stand in the document: whether they are encoded may be said behind them. */
struct list_document {
    struct document document;
    char *keys; /* one after the other, each with its NUL */
    size_t keys_used;
    size_t keys_capacity;
    size_t count;
    uint64_t object_bytes[STORE_LIST_KEYS_MAX];
    size_t room; /* keys that the page can take */
    bool encoded;
    bool truncated_said;
    bool key_said; /* of the Contents that is read now */
    bool bytes_said;
    struct s3_list_result *result;
};

static void take_key(struct list_document *list)
{
    size_t bytes = list->document.text_bytes + 1;
    if (list->keys_used + bytes > list->keys_capacity) {
        list->keys_capacity = 2 * (list->keys_capacity + bytes);
        list->keys = realloc(list->keys, list->keys_capacity);
        assert(list->keys != NULL);
    }
    memcpy(list->keys + list->keys_used, list->document.text, bytes);
    list->keys_used += bytes;
}

static void take_contents_part(struct list_document *list, const char *name)
{
    struct document *document = &list->document;
    bool is_key = strcmp(name, "Key") == 0;
    if (!is_key && strcmp(name, "Size") != 0)
        return;
    if (list->count == list->room) {
        refuse(document, "it has more keys than were asked for");
    } else if (is_key ? list->key_said : list->bytes_said) {
        refuse(document, "an object has two of <%s>", name);
    } else if (is_key) {
        take_key(list);
        list->key_said = true;
    } else if (s3_text_number(document->text, document->text_bytes, INT64_MAX,
                              &list->object_bytes[list->count])) {
        list->bytes_said = true;
    } else {
        refuse(document, "the size of an object is not a number");
    }
}

static void take_list_part(struct list_document *list, const char *name)
{
    struct document *document = &list->document;
    struct s3_list_result *result = list->result;
    const char *text = document->text;
    if (strcmp(name, "EncodingType") == 0) {
        list->encoded = strcmp(text, "url") == 0;
    } else if (strcmp(name, "IsTruncated") == 0) {
        result->truncated = strcmp(text, "true") == 0;
        list->truncated_said = result->truncated || strcmp(text, "false") == 0;
    } else if (strcmp(name, "NextContinuationToken") == 0) {
        if (document->text_bytes >= sizeof(result->token))
            refuse(document, "its token is longer than %d bytes", S3_TOKEN_MAX - 1);
        else
            memcpy(result->token, text, document->text_bytes + 1);
    } else if (strcmp(name, "Contents") == 0) {
        if (!list->key_said || !list->bytes_said)
            refuse(document, "an object has no %s", list->key_said ? "size" : "key");
        list->key_said = list->bytes_said = false;
        list->count++;
    }
}

static void list_element(struct document *document, const char *name)
{
    struct list_document *list = (struct list_document *)document;
    if (document->depth == KEY_DEPTH)
        take_contents_part(list, name);
    else if (document->depth == KEY_DEPTH - 1)
        take_list_part(list, name);
}

/* In place. False: not an encoded text, or one with a NUL in it. */
static bool url_decode(char *text)
{
    char *to = text;
    for (; *text != '\0'; text++) {
        char c = *text == '+' ? ' ' : *text;
        if (c == '%') {
            int high = s3_text_digit(text[1]);
            int low = high < 0 ? -1 : s3_text_digit(text[2]);
            if (low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(16 * high + low);
            text += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

/* Adds one key to the page; false: `why` says what is wrong with it. */
static bool add_key(struct list_page *page, const char *key, uint64_t bytes, const char *prefix,
                    char *why)
{
    char shown[96];
    size_t prefix_bytes = strlen(prefix);
    s3_text_copy(key, strlen(key), shown, sizeof(shown));
    if (strncmp(key, prefix, prefix_bytes) != 0) {
        snprintf(why, STORE_ERROR_MAX, "it lists %s, which is not below %.96s", shown, prefix);
        return false;
    }
    const char *name = key + prefix_bytes;
    if (name[0] == '\0') /* a folder's marker, as consoles make them: no key of the store */
        return true;
    if (strlen(name) >= STORE_KEY_MAX) {
        snprintf(
            why, STORE_ERROR_MAX,
            "it lists %s..., longer than any key of a run: is something else below the prefix?",
            shown);
        return false;
    }
    if (page->count > 0 && strcmp(list_page_key(page, page->count - 1), name) >= 0) {
        snprintf(why, STORE_ERROR_MAX,
                 "it is not in ascending order: %s comes late (directory buckets list so)", shown);
        return false;
    }
    list_page_add(page, name, bytes);
    return true;
}

static bool add_keys(const struct list_document *list, const char *prefix, struct list_page *page)
{
    char *key = list->keys;
    for (size_t i = 0; i < list->count; i++) {
        char *next = key + strlen(key) + 1;
        if (list->encoded && !url_decode(key)) {
            snprintf(list->document.why, STORE_ERROR_MAX, "a key is not url-encoded");
            return false;
        }
        if (!add_key(page, key, list->object_bytes[i], prefix, list->document.why))
            return false;
        key = next;
    }
    return true;
}

enum s3_xml s3_xml_list(const uint8_t *body, size_t bytes, const char *prefix,
                        struct list_page *page, struct s3_list_result *result,
                        char why[STORE_ERROR_MAX])
{
    struct list_document *list = calloc(1, sizeof(*list));
    assert(list != NULL);
    assert(page->count <= STORE_LIST_KEYS_MAX);
    list->document.root = "ListBucketResult";
    list->document.element = list_element;
    list->document.why = why;
    list->room = STORE_LIST_KEYS_MAX - page->count;
    list->result = result;
    *result = (struct s3_list_result){0};
    why[0] = '\0';
    bool good = document_read(&list->document, body, bytes);
    bool other = list->document.root_other;
    if (good && !list->truncated_said) {
        snprintf(why, STORE_ERROR_MAX, "it does not say whether more keys follow");
        good = false;
    } else if (good && result->truncated && result->token[0] == '\0') {
        snprintf(why, STORE_ERROR_MAX, "it says that more keys follow, and gives no token");
        good = false;
    }
    good = good && add_keys(list, prefix, page);
    free(list->keys);
    free(list);
    assert(good == (why[0] == '\0'));
    if (good)
        return S3_XML_OK;
    return other ? S3_XML_OTHER : S3_XML_MALFORMED;
}
