/* The YAML reader: nested and dotted keys are one thing, and whatever is not plain is refused. */
#include "experiments/config/yaml_reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/random.h"
#include "tests/experiments/expect.h"
#include "tests/scratch.h"

/* "key=value@line:column ..." of all scalars; on an error the diagnostic. */
static void flatten(const char *bytes, size_t size, char *out, size_t out_size)
{
    struct yaml_file file;
    struct diagnostic diagnostic;
    if (!yaml_file_parse("t.yaml", bytes, size, &file, &diagnostic)) {
        snprintf(out, out_size, "%s", diagnostic.text);
        return;
    }
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < file.count && used < out_size; i++) {
        const struct yaml_node *node = &file.nodes[i];
        if (node->kind == YAML_SCALAR) {
            used +=
                (size_t)snprintf(out + used, out_size - used, "%s%s=%s@%u:%u", used > 0 ? " " : "",
                                 node->key, node->value, node->line, node->column);
        }
    }
    yaml_file_deinit(&file);
}

struct row {
    const char *text;
    const char *expected;
};

static const struct row accepted[] = {
    {"a: 1\n", "a=1@1:4"},
    {"store:\n  get: {base: 27ms}\n", "store.get.base=27ms@2:15"},
    {"store.get.base: 27ms # why\n", "store.get.base=27ms@1:17"},
    {"store: {get.base: 1ms}\nstore.put.base: 2ms\n",
     "store.get.base=1ms@1:19 store.put.base=2ms@2:17"},
    {"arms:\n  - name: a\n    b.c: 1\n  - name: b\n",
     "arms[0].name=a@2:11 arms[0].b.c=1@3:10 arms[1].name=b@4:11"},
    {"v: [1s, 2s]\r\n", "v[0]=1s@1:5 v[1]=2s@1:9"},
    {"\xef\xbb\xbf"
     "a: 'x: y'\n",
     "a=x: y@1:4"},
    {"\xef\xbb\xbf# why\na: 1\n", "a=1@2:4"},
    {"---\na: \"\xc3\xa4\"\n...\n", "a=\xc3\xa4@2:4"},
};

static const struct row refused[] = {
    {"", "t.yaml:1:1: the file is empty; configs/experiments holds examples"},
    {"# only a comment\n", "t.yaml:1:1: the file is empty; configs/experiments holds examples"},
    {"\xef\xbb\xbf", "t.yaml:1:1: the file is empty; configs/experiments holds examples"},
    {"---\n", "t.yaml:2:1: the document is empty"},
    {"hello\n", "t.yaml:1:1: expected 'key: value' lines at the top, found plain text"},
    {"- 1\n", "t.yaml:1:1: expected 'key: value' lines at the top, found a list"},
    {"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: duplicate key 'a': it is also on line 1"},
    {"s: {g: {b: 1}}\ns.g.b: 2\n", "t.yaml:2:1: duplicate key 's.g.b': it is also on line 1"},
    {"s:\n  g: 1\ns:\n  h: 1\n", "t.yaml:3:1: duplicate key 's': it is also on line 1"},
    {"a: &x 1\n", "t.yaml:1:4: anchor '&x': configs have none; remove it"},
    {"a: *x\n", "t.yaml:1:4: alias '*x': write the value out"},
    {"a: !!int 1\n", "t.yaml:1:4: tag 'tag:yaml.org,2002:int': configs have none; remove it"},
    {"<<: 1\n", "t.yaml:1:1: '<<' is not a key: keys hold a-z, 0-9, _, - and dots"},
    {"a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document: a config is one document"},
    {"a:\nb: 2\n", "t.yaml:1:3: 'a' needs a value"},
    {"a: ''\n", "t.yaml:1:4: 'a' needs a value"},
    {"a: {}\n", "t.yaml:1:4: 'a' is empty: give it a value or remove it"},
    {"a: []\n", "t.yaml:1:4: 'a' is empty: give it a value or remove it"},
    {"arms[0].name: 1\n",
     "t.yaml:1:1: 'arms[0].name' is not a key: keys hold a-z, 0-9, _, - and dots"},
    {"a..b: 1\n", "t.yaml:1:1: 'a..b' is not a key: keys hold a-z, 0-9, _, - and dots"},
    {"Seeds: 1\n", "t.yaml:1:1: 'Seeds' is not a key: keys hold a-z, 0-9, _, - and dots"},
    {"? [a]\n: 1\n", "t.yaml:1:3: a key must be plain text, found a list"},
    {"a: [[[[[[[[[1]]]]]]]]]\n", "t.yaml:1:11: nested deeper than 8 levels"},
    {"a: |\n  x\n  y\n", "t.yaml:1:4: the value of 'a' holds a line break or control character"},
    {"a: 1\n b: 2\n", "t.yaml:2:3: not valid YAML: mapping values are not allowed in this context"},
    {"a: [1, 2\n", "t.yaml:2:1: not valid YAML: did not find expected ',' or ']' while parsing a "
                   "flow sequence"},
    {"a: \"x\n", "t.yaml:2:1: not valid YAML: found unexpected end of stream while scanning a "
                 "quoted scalar"},
    {"a: 1\nb: \xff\n", "t.yaml:2:4: byte 0xff: a config is plain UTF-8 text"},
    {"a: \xc3(\n", "t.yaml:1:4: byte 0xc3: a config is plain UTF-8 text"},
    {"a: 1\nb: \x01\n", "t.yaml:2:4: control characters are not allowed; a config is plain UTF-8 "
                        "text"},
    {"a: \xed\xa0\x80\n", "t.yaml:1:4: invalid Unicode character; a config is plain UTF-8 text"},
};

static void nested_and_dotted_keys_are_one(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(accepted); i++) {
        char out[1024];
        flatten(accepted[i].text, strlen(accepted[i].text), out, sizeof(out));
        expect_text(accepted[i].text, out, accepted[i].expected);
    }
}

static void what_is_not_plain_is_refused(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        char out[1024];
        flatten(refused[i].text, strlen(refused[i].text), out, sizeof(out));
        expect_text(refused[i].text, out, refused[i].expected);
    }
}

static void limits_hold(void)
{
    static char bytes[YAML_BYTES_MAX + 2];
    char out[1024];
    flatten("a: 1\n\0b: 2\n", 11, out, sizeof(out));
    expect_text("NUL", out, "t.yaml:2:1: byte 0x00: a config is plain UTF-8 text");
    memset(bytes, '#', sizeof(bytes));
    flatten(bytes, YAML_BYTES_MAX + 1, out, sizeof(out));
    expect_text("1 MiB", out, "t.yaml: larger than 1 MiB: not a config");
    memset(bytes, '[', sizeof(bytes));
    flatten(bytes, YAML_BYTES_MAX, out, sizeof(out));
    expect_text("[[[", out, "t.yaml:1:1: expected 'key: value' lines at the top, found a list");
    size_t used = 0;
    for (unsigned i = 0; i < 5000; i++)
        used += (size_t)snprintf(bytes + used, sizeof(bytes) - used, "k%u: 1\n", i);
    flatten(bytes, used, out, sizeof(out));
    expect_text("nodes", out, "t.yaml:4096:8: more than 4096 settings");
    memset(bytes, 'k', 200);
    memcpy(bytes + 200, ": 1\n", 4);
    flatten(bytes, 204, out, sizeof(out));
    expect_text("key", out,
                "t.yaml:1:1: the key 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...' is longer "
                "than 127 characters");
    memcpy(bytes, "a: ", 3);
    memset(bytes + 3, 'v', 3000);
    flatten(bytes, 3003, out, sizeof(out));
    expect_text("value", out, "t.yaml:1:4: the value of 'a' is longer than 2047 bytes");
}

/* Mutations of a good file: each is read, with a place for every value, or refused in one line that
 * says where, whatever bytes it quotes. */
static void hostile_bytes_are_read_or_refused_in_one_line(void)
{
    static const char good[] = "a: {b: [1, '2', {c: \"x\"}]}\nd.e: |\n  t\nf:\n  - g: &h 1\n";
    struct random_stream random = random_stream_make(3, 0);
    uint32_t refusals = 0;
    uint32_t wrong = 0;
    for (int i = 0; i < 5000; i++) {
        char bytes[sizeof(good)];
        char out[1024];
        memcpy(bytes, good, sizeof(good));
        for (int m = 0; m < 3; m++)
            bytes[random_next(&random) % (sizeof(good) - 1)] = (char)random_next(&random);
        flatten(bytes, random_next(&random) % sizeof(good), out, sizeof(out));
        bool is_refused = strncmp(out, "t.yaml:", 7) == 0;
        refusals += is_refused;
        for (const char *at = out; is_refused && *at != '\0'; at++)
            wrong += ((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f;
        wrong += !is_refused && out[0] != '\0' && strstr(out, "@1:") == NULL &&
                 strstr(out, "@2:") == NULL;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(refusals > 1000 && refusals < 5000);
}

static void files_that_cannot_be_read_say_why(void)
{
    char folder[SCRATCH_MAX];
    scratch_make(folder);
    char path[SCRATCH_MAX + 16];
    snprintf(path, sizeof(path), "%s/x.yaml", folder);
    struct yaml_file file;
    struct diagnostic diagnostic;
    char expected[256];
    CU_ASSERT(!yaml_file_read(path, &file, &diagnostic));
    snprintf(
        expected, sizeof(expected),
        "%s: cannot read: No such file or directory; check the path; configs/experiments holds "
        "the experiments that are shipped",
        path);
    expect_text(path, diagnostic.text, expected);
    CU_ASSERT(!yaml_file_read(folder, &file, &diagnostic));
    snprintf(expected, sizeof(expected), "%s: cannot read: Is a directory; name a file in it",
             folder);
    expect_text(folder, diagnostic.text, expected);
    CU_ASSERT_EQUAL(mkfifo(path, 0644), 0);
    CU_ASSERT(!yaml_file_read(path, &file, &diagnostic)); /* at once */
    snprintf(expected, sizeof(expected), "%s: not a plain file: write the config into one", path);
    expect_text(path, diagnostic.text, expected);
    unlink(path);
    int made = open(path, O_CREAT | O_WRONLY, 0);
    CU_ASSERT_FATAL(made >= 0);
    close(made);
    bool root = geteuid() == 0;
    CU_ASSERT(!root || seteuid(65534) == 0);
    CU_ASSERT(!yaml_file_read(path, &file, &diagnostic));
    CU_ASSERT(!root || seteuid(0) == 0);
    snprintf(
        expected, sizeof(expected),
        "%s: cannot read: Permission denied; make it and its directories readable for this user "
        "(chmod a+r)",
        path);
    expect_text(path, diagnostic.text, expected);
    scratch_remove(folder);
}

const struct harness_test yaml_reader_tests[] = {
    HARNESS_TEST(nested_and_dotted_keys_are_one),
    HARNESS_TEST(what_is_not_plain_is_refused),
    HARNESS_TEST(limits_hold),
    HARNESS_TEST(hostile_bytes_are_read_or_refused_in_one_line),
    HARNESS_TEST(files_that_cannot_be_read_say_why),
    {0},
};
