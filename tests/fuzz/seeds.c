/* seeds.c - writes seed inputs for the fuzz targets with the project's own encoders:
 *
 *   fuzz-seeds FOLDER     FOLDER/<target>/seed-<name>
 *
 * The same bytes each time, so that writing them again shows what changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/manifest.h"
#include "core/tgb_object.h"
#include "experiments/config/options.h"
#include "experiments/live/live_wire.h"
#include "experiments/trials/recorder.h"
#include "tests/core/chains.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

#define PATH_BYTES_MAX 512
#define MANIFEST_SEED_BYTES_MAX 1500

static const char *folder;

static void write_seed(const char *target, const char *name, const void *data, size_t size)
{
    char path[PATH_BYTES_MAX];
    assert(fuzz_target_find(target) != NULL && size <= FUZZ_INPUT_MAX);
    snprintf(path, sizeof(path), "%s/%s", folder, target);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/%s/seed-%s", folder, target, name);
    FILE *file = fopen(path, "we");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

static void write_text(const char *target, const char *name, const char *text)
{
    write_seed(target, name, text, strlen(text));
}

static void write_numbered(const char *target, unsigned number, const void *data, size_t size)
{
    char name[32];
    snprintf(name, sizeof(name), "%u", number);
    write_seed(target, name, data, size);
}

static void write_manifests(void)
{
    struct random_stream stream = random_stream_make(3, 1);
    for (unsigned i = 0; i < 8;) {
        struct manifest *manifest = i == 0 ? manifest_genesis(64) : chain_random(&stream);
        uint64_t bytes = manifest_encoded_bytes(manifest);
        uint8_t *data = malloc(bytes);
        assert(data != NULL);
        manifest_encode(manifest, data);
        if (bytes <= MANIFEST_SEED_BYTES_MAX)
            write_numbered("manifest", i++, data, bytes);
        free(data);
        manifest_release(manifest);
    }
}

static void write_names(void)
{
    char key[STORE_KEY_MAX];
    name_version(key, 12345);
    write_text("name", "version", key);
    name_floor(key, (struct floor){.version = 17, .step = 40});
    write_text("name", "floor", key);
    name_tgb(key, &(struct tgb_name){.bucket = 223344556,
                                     .sequence = 9,
                                     .end_offset = UINT64_C(1) << 40,
                                     .producer = 31,
                                     .epoch = 2});
    write_text("name", "tgb", key);
    name_version(key, UINT64_MAX);
    write_text("name", "edge", key);
    write_text("name", "other", "run/format");
    name_intent(key, 40);
    write_text("name", "intent", key);
    struct watermark_name watermark = {.consumer = 3, .number = 2, .step = 40};
    name_watermark(key, &watermark);
    write_text("name", "number", key);
    watermark.part = WATERMARK_NUMBER_VALUE;
    name_watermark(key, &watermark);
    write_text("name", "value", key);
    watermark.part = WATERMARK_NUMBER_RETIRED;
    name_watermark(key, &watermark);
    write_text("name", "retired", key);
}

/* Two bytes that say mesh and pieces, then a TGB: plain, compressed, and another mesh's. */
static void write_tgbs(void)
{
    static uint8_t seed[2 + 1200];
    static uint8_t raw_bytes[400];
    for (unsigned i = 0; i < 6; i++) {
        uint8_t sides = (uint8_t)(5 * (i % 3));
        struct tgb_object object = {
            .mesh = {.data = 1 + sides % 4, .context = 1 + sides / 4},
            .name = {.sequence = 7, .producer = 3, .epoch = 2},
            .bytes = seed + 2,
        };
        uint32_t slices = tgb_mesh_slices(object.mesh);
        enum tgb_error error = tgb_layout_make(sizeof(seed) - 2, slices, &object.layout);
        assert(error == TGB_OK);
        tgb_object_fill(&object);
        for (uint32_t j = 0; i >= 3 && j < slices; j += 2) {
            memset(raw_bytes, (int)j, sizeof(raw_bytes) - i);
            struct tgb_raw raw = {raw_bytes, sizeof(raw_bytes), 3};
            error = tgb_object_compress_slice(&object, j, &raw);
            assert(error == TGB_OK);
        }
        tgb_object_seal(&object);
        seed[0] = i == 2 ? 1 : sides;
        seed[1] = (uint8_t)(40 * i);
        write_numbered("tgb", i, seed, sizeof(seed));
    }
}

/* Scripts for a fuzz store: mostly a store that behaves, with more and more that does not. */
static void write_scripts(const char *target)
{
    struct random_stream stream = random_stream_make(5, (uint64_t)target[0]);
    uint8_t script[160];
    for (unsigned i = 0; i < 12; i++) {
        for (size_t at = 0; at < sizeof(script); at++) {
            uint64_t draw = random_next(&stream);
            script[at] = draw % 12 < i ? (uint8_t)(draw >> 8) : (uint8_t)((draw >> 8) % 3);
        }
        script[0] = (uint8_t)(i * 21);
        write_numbered(target, i, script, sizeof(script));
    }
}

static const char small_experiment[] = "name: small\n"
                                       "title: a sweep\n"
                                       "seeds: 2\n"
                                       "workload: {producers: 4, rate: 13.5MB/s, tgb: 4MiB}\n"
                                       "run.duration: 10min\n"
                                       "arms:\n"
                                       "  - {name: dac, policy.name: dac}\n"
                                       "  - name: fixed\n"
                                       "    policy.name: fixed\n"
                                       "    sweep: {key: policy.fixed.gap, values: [1s, 2.5s]}\n";

static void write_configs(void)
{
    static const char *const texts[] = {"a: 1\n", "a.b: \"x\\ty\"\nc: [1, {d: 2}]\n",
                                        "a: &x 1\nb: *x\n", "%YAML 1.1\n---\n? {a: b}\n: |\n  c\n"};
    write_text("yaml", "experiment", small_experiment);
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        write_numbered("yaml", i, texts[i], strlen(texts[i]));
    char text[sizeof(small_experiment) + 64];
    write_text("experiment", "small", small_experiment);
    snprintf(text, sizeof(text), "--set workload.tgb=8MiB\n%s", small_experiment);
    write_text("experiment", "set", text);
    write_text("profile", "store",
               "store.put.latency: 20ms\nstore:\n  get.quantiles: '0:0.6 0.5:1 1:4'\n"
               "price.put: 0.000005\n");
    write_text("profile", "alien", "workload.rate: 1MB/s\n");
    write_text("experiment", "profile",
               "store.profile: s3-express\nstore.get.quantiles: '0:0.6 0.5:1 0.99:2.8 1:4'\n");
}

static void write_options(void)
{
    static struct config config;
    config_default(&config);
    for (size_t i = 0; i < option_count(); i++) {
        const char *key = option_at(i)->key;
        char value[OPTION_TEXT_MAX];
        char text[2 * OPTION_TEXT_MAX];
        option_print(&config, option_at(i), value);
        snprintf(text, sizeof(text), "%s=%s", key, value);
        write_text("option", key, text);
    }
}

static void write_units(void)
{
    static const char *const texts[] = {"250ms", "1.5h",      "4MiB",   "13.5MB/s",
                                        "3.7%",  "1e-5",      "auto",   "0:0.6 0.5:1 1:4",
                                        "0",     "-0.000001", "0.1GiB", "9007199254740991"};
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        write_numbered("unit", i, texts[i], strlen(texts[i]));
}

static void write_recorders(void)
{
    struct recorder_options options = {
        .duration_ns = 3 * NS_PER_S, .warmup_ns = NS_PER_S, .bin_ns = NS_PER_S, .producers = 2};
    struct recorder *recorder = recorder_open(&options);
    struct producer_observer observer = recorder_observer(recorder);
    size_t size;
    uint8_t *bytes = recorder_serialize(recorder, &size);
    write_seed("recorder", "empty", bytes, size);
    free(bytes);
    for (int64_t i = 1; i < 5; i++) {
        struct attempt attempt = {.outcome = i % 2 ? ATTEMPT_WON : ATTEMPT_LOST,
                                  .ended_ns = i * 600 * NS_PER_MS,
                                  .tau_ns = 50 * NS_PER_MS,
                                  .window_ns = 40 * NS_PER_MS,
                                  .manifest_bytes = 5000,
                                  .producers_active = 2};
        struct attempt_detail detail = {.started_ns = attempt.ended_ns - attempt.tau_ns};
        struct batch batch = {.sequence = (uint64_t)i, .bytes = 1000, .made_ns = detail.started_ns};
        observer.attempt(observer.context, 0, &attempt, &detail);
        observer.visible(observer.context, 0, &batch, attempt.ended_ns);
        observer.request(observer.context, 0, STORE_PUT, STORE_OK, 1000);
    }
    recorder_note_invisible(recorder, 1, 2 * NS_PER_S, 500);
    bytes = recorder_serialize(recorder, &size);
    write_seed("recorder", "filled", bytes, size);
    free(bytes);
    recorder_close(recorder);
}

static void write_messages(void)
{
    struct live_message message;
    for (unsigned kind = LIVE_READY; kind <= LIVE_ENDED; kind++) {
        memset(&message, 0, sizeof(message));
        message.kind = (enum live_message_kind)kind;
        message.end = LIVE_END_FAILED;
        message.at_ns = NS_PER_S;
        message.counts = (struct live_counts){.attempts = 3, .won = 2, .batches = 9, .bytes = 900};
        message.record_bytes = 64;
        if (kind == LIVE_ENDED)
            live_message_text(&message, "the store refused");
        size_t size = offsetof(struct live_message, payload) + message.payload_bytes;
        write_numbered("wire", kind, &message, size);
    }
}

static void write_files(void)
{
    write_text("marker", "right",
               "{\n  \"format\": 1,\n  \"layout\": \"full\",\n  \"entry_bytes\": 120,\n"
               "  \"payload\": \"synthetic\",\n  \"identity\": \"00ff\",\n  \"seed\": 1\n}");
    write_text("marker", "lacking", "{\"format\": 1}");
    write_text("marker", "control", "\033[2J");
    write_text("marker", "c1",
               "{\"format\": 1, \"entry_bytes\": 120, \"payload\": \"synthetic\","
               " \"arm\": \"\\u009b2J\", \"seed\": 1}");
    write_text("marker", "nested", "[[[[{}]]]]");
    write_text("marker", "mesh",
               "{\"format\": 1, \"entry_bytes\": 64, \"payload\": \"files\", \"mesh\": \"8x2\"}");
    write_text("reported", "rows",
               "# comment\nP1\tsuccess\t96.3\t%\tcommit success over five hours\n"
               "P2\tmodel\t-\t-\ttext only\n");
    write_text("reported", "short", "P1\tsuccess\t96.3\n");
    write_text("paper", "page", "# Page\n\n<!-- p1:begin -->\nold\n<!-- p1:end -->\n\nbehind\n");
    write_text("paper", "same", "<!-- p1:begin -->\n| generated |\n<!-- p1:end -->\n");
    write_text("paper", "wrong", "<!-- p1:end -->\n<!-- p1:begin -->\n");
}

static void write_answers(void)
{
    static const char error[] =
        "<?xml version=\"1.0\"?><Error><Code>PermanentRedirect</Code><Message>The bucket is in"
        " another place.</Message><Endpoint>b.s3.amazonaws.com</Endpoint><Region>eu-west-1</Region>"
        "<RequestId>4442587FB7D0A2F9</RequestId></Error>";
    static const char list[] =
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
        "<Prefix>run/</Prefix><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
        "<Contents><Key>run/a%2Bb+c</Key><ETag>&quot;x&quot;</ETag><Size>10</Size></Contents>"
        "<Contents><Key>run/b</Key><Size>0</Size></Contents>"
        "<NextContinuationToken>1/x=</NextContinuationToken></ListBucketResult>";
    static const char *const forms[] = {"\x02\x00\x9c", "\x82\x00\x34", "\x80\x00\x35",
                                        "\x03\x03\x32"};
    char answer[1024];
    write_text("s3_xml", "error", error);
    write_text("s3_xml", "list", list);
    write_text("s3_xml", "page", "<!DOCTYPE html><html><body>log in</body></html>");
    write_text("s3_xml", "entity",
               "<!DOCTYPE x [<!ENTITY a \"b\">]><Error><Code>&a;</Code></Error>");
    for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        int bytes = snprintf(answer + 3, sizeof(answer) - 3,
                             "HTTP/1.1 200 OK\r\nContent-Length: 241\r\n"
                             "Content-Range: bytes 0-240/1000\r\nETag: \"0a\"\r\n"
                             "Date: Sat, 31 Jan 2026 10:00:00 GMT\r\nx-amz-request-id: abc\r\n"
                             "x-amz-meta-xxh3: 0123456789abcdef\r\nLocation: http://h/\r\n\r\n%s",
                             i == 3 ? list : error);
        memcpy(answer, forms[i], 3);
        write_numbered("s3_headers", i, answer, 3 + (size_t)bytes);
    }
}

/* The first byte: the config file or not, and which profile. */
static void write_credentials(void)
{
    write_text("credentials", "shared",
               "\x02# keys\n[default]\naws_access_key_id = AKID\n\n[x] ; mine\n"
               "aws_access_key_id=AKID\naws_secret_access_key = se/cr+et= # new\n"
               "aws_session_token = token\n");
    write_text("credentials", "config",
               "\x05\xef\xbb\xbf[default]\r\nregion = eu-west-3\r\ns3 =\r\n  retries = 5\r\n"
               "[profile \"a b\"]\r\nendpoint_url = http://h:1\r\naws_access_key_id = AKID\r\n"
               "aws_secret_access_key = secret\r\n");
    write_text("credentials", "twice", "\x02[x]\naws_access_key_id = A\n[y]\n[x]\n");
    write_text("credentials", "role", "\x03[profile x]\nrole_arn = arn:aws:iam::1:role/r\n");
    write_text("credentials", "goes-on", "\x02[x]\naws_secret_access_key = secret\n  secret\n");
    write_text("credentials", "half", "\x02[x]\naws_secret_access_key = \"secret\"\nx y\n");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: fuzz-seeds FOLDER\n");
        return 2;
    }
    folder = argv[1];
    (void)mkdir(folder, 0777);
    write_manifests();
    write_names();
    write_tgbs();
    write_scripts("commit");
    write_scripts("inspect");
    write_scripts("reclaim");
    write_scripts("consume");
    write_configs();
    write_options();
    write_units();
    write_recorders();
    write_messages();
    write_files();
    write_answers();
    write_credentials();
    seeds_of_jobs(write_seed);
    return EXIT_SUCCESS;
}
