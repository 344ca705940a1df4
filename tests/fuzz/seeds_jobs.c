/* seeds_jobs.c - see seeds.h. */
#include "tests/fuzz/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/consume/checkpoint_file.h"
#include "experiments/consume/consume_start.h"
#include "experiments/consume/consume_wire.h"
#include "experiments/consume/order_digest.h"
#include "experiments/consume/rank_log.h"
#include "experiments/figures/live_reference.h"
#include "experiments/figures/read_reference.h"
#include "experiments/live/live_meeting.h"
#include "experiments/trials/recorder.h"
#include "tests/fuzz/target.h"

#define SEED_MAX FUZZ_INPUT_MAX

static void write_text(seed_write *write, const char *target, const char *name, const char *text)
{
    write(target, name, text, strlen(text));
}

/* A first byte that chooses, then bytes. */
static void write_chosen(seed_write *write, const char *target, const char *name, uint8_t first,
                         const struct body *body)
{
    uint8_t *seed = malloc(1 + body->bytes);
    assert(seed != NULL);
    seed[0] = first;
    memcpy(seed + 1, body->data, body->bytes);
    write(target, name, seed, 1 + body->bytes);
    free(seed);
}

static void write_chosen_text(seed_write *write, const char *target, const char *name,
                              uint8_t first, const char *text)
{
    struct body body = {.bytes = strlen(text), .data = (uint8_t *)(uintptr_t)text};
    write_chosen(write, target, name, first, &body);
}

/* ---- what ranks tell each other ---- */

static void write_meetings(seed_write *write)
{
    struct live_ranks ranks = {.rank = 0, .count = 2};
    struct live_call calls[] = {
        {.url = "file:///run/a",
         .arm = "dac",
         .hash = "00ff00ff",
         .group = "0123456789abcdef",
         .seed = 7},
        {.over = true, .failed = true},
        {.url = "file:///run/\033[2J\xc2\x9b", .arm = "d\nc", .group = "0123456789abcdef"},
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        char name[16];
        char *text = live_meeting_print(&ranks, &calls[i]);
        snprintf(name, sizeof(name), "call-%zu", i);
        write_chosen_text(write, "meeting", name, 1, text);
        free(text);
    }
    char start[CONSUME_START_BYTES_MAX];
    struct consume_agreed agreed = {.place = {.step = 41, .beginning = true}, .steps = 100};
    consume_start_print(&agreed, start);
    write_chosen_text(write, "meeting", "start", 0, start);
    agreed.place.beginning = false;
    agreed.every = 25;
    consume_start_print(&agreed, start);
    write_chosen_text(write, "meeting", "start-kept", 0, start);
}

/* Messages of a group carry their sender's clock, so that their encoder is not taken: in its form,
 * with clocks that stay. */
static void write_groups(seed_write *write)
{
    static const char result[] =
        "{\"rank\":1,\"now_ns\":1000,\"failure\":\"%s\",\"counts\":[4,3,9,900,1,2,3,4,5,6,7],"
        "\"restarts\":1,\"memory_bytes\":1048576,\"start_heard_ns\":-5}";
    char text[SEED_MAX];
    write_chosen_text(write, "group", "ready", 3, "{\"rank\":1,\"now_ns\":1000}");
    write_chosen_text(write, "group", "ready-not", 3,
                      "{\"rank\":1,\"now_ns\":1000,\"failure\":\"no \\u001b[2J room\"}");
    write_chosen_text(write, "group", "start", 2,
                      "{\"rank\":0,\"now_ns\":1000,\"start_ns\":2000000}");
    write_chosen_text(write, "group", "start-not", 2,
                      "{\"rank\":0,\"now_ns\":1,\"start_ns\":2,\"failure\":\"it was stopped\"}");
    snprintf(text, sizeof(text), result, "the store refused");
    write_chosen_text(write, "group", "result-not", 0, text);
    int bytes = snprintf(text, sizeof(text), result, "");
    struct recorder_options options = {
        .duration_ns = 3 * NS_PER_S, .warmup_ns = NS_PER_S, .bin_ns = NS_PER_S, .producers = 2};
    struct recorder *recorder = recorder_open(&options);
    size_t size;
    uint8_t *record = recorder_serialize(recorder, &size);
    assert((size_t)bytes + size < sizeof(text));
    memcpy(text + bytes, record, size);
    struct body body = {.bytes = (size_t)bytes + size, .data = (uint8_t *)text};
    write_chosen(write, "group", "result", 0, &body);
    free(record);
    recorder_close(recorder);
}

static void write_launchers(seed_write *write)
{
    write_text(write, "launcher", "alone", "");
    write_text(write, "launcher", "mpirun", "3\n4\n\n\n\n\n\n\n\n\n\nword\n");
    write_text(write, "launcher", "pmi", "\n\n0\n2\n\n\n\n\n\n\n\na-b_c\n");
    write_text(write, "launcher", "srun", "\n\n\n\n1\n2\n4711\n0\n2\n");
    write_text(write, "launcher", "flags", "\n\n\n\n\n\n\n\n\n1\n4\nword\n");
    write_text(write, "launcher", "wrong", "4\n4\n\n\n\n\n\n\n\n\n\nw rd\n");
}

/* ---- what consume keeps and tells ---- */

static void write_checkpoints(seed_write *write)
{
    const struct checkpoint_file file = {.folder = "", .run = "00ff", .rank = 3, .slices = 4};
    const struct checkpoint_file other = {.folder = "", .run = "00ff", .rank = 2, .slices = 4};
    struct checkpoint_set set = {.count = 0};
    char *text = checkpoint_file_print(&file, &set);
    write_text(write, "checkpoints", "none", text);
    free(text);
    for (uint64_t i = 0; i < 3; i++)
        set.items[set.count++] =
            (struct checkpoint){.step = 1 + 25 * i, .number = 1 + i, .digest = i * UINT64_MAX / 2};
    text = checkpoint_file_print(&file, &set);
    write_text(write, "checkpoints", "three", text);
    free(text);
    text = checkpoint_file_print(&other, &set);
    write_text(write, "checkpoints", "another-rank", text);
    free(text);
}

/* As the target has it: six steps from 3 on, of one producer. */
static void fill_order(struct order_line lines[6])
{
    for (uint64_t i = 0; i < 6; i++)
        lines[i] = (struct order_line){.step = 3 + i, .sequence = 1 + i, .tgb_bytes = 4096};
}

static void write_orders(seed_write *write)
{
    struct order_line lines[6];
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    assert(stream != NULL);
    fill_order(lines);
    for (size_t i = 0; i < 6; i++)
        order_file_write(stream, &lines[i]);
    fclose(stream);
    write("order", "six", text, bytes);
    write("order", "cut", text, bytes - 4);
    write("order", "twice", text, bytes / 2);
    free(text);
    write_text(write, "order", "two-producers", "1 0 1 1 100\n2 7 1 1 100\n3 0 1 2 90\n");
    write_text(write, "order", "gap", "1 0 1 1 100\n3 0 1 2 100\n");
    write_text(write, "order", "of-a-run", "run 00ff\n1 0 1 1 100\n2 0 1 2 100\n");
}

/* The bytes of a file in memory as a seed, which starts it anew. */
static void write_file(seed_write *write, int file, const char *target, const char *name)
{
    char text[SEED_MAX];
    ssize_t bytes = pread(file, text, sizeof(text), 0);
    assert(bytes > 0);
    write(target, name, text, (size_t)bytes);
}

/* Two lives: the first is given three steps, the second goes on a step earlier. */
static void write_logs(seed_write *write)
{
    struct order_line lines[6];
    char error[ORDER_DIGEST_TEXT_MAX];
    struct order order = {.count = 6, .lines = lines};
    struct order_digest digest = {.slices = 2, .rank = 1, .first = 3};
    int file = memfd_create("seed", MFD_CLOEXEC);
    fill_order(lines);
    bool made = order_digest_make(&order, &digest, error);
    assert(file >= 0 && made);
    for (uint64_t life = 0; life < 2; life++) {
        uint64_t first = life == 0 ? 3 : 5;
        uint64_t before = order_digest_before(&digest, first);
        bool told = rank_log_start(file, first, 1 + life, before);
        for (uint64_t step = first; step < first + 3; step++) {
            struct consumer_delivery delivery = {.step = step};
            delivery.entry.tgb.sequence = step - 2;
            delivery.slice.bytes = 32;
            told = rank_log_step(file, &delivery, order_digest_before(&digest, step + 1)) && told;
        }
        assert(told);
        write_file(write, file, "rank_log", life == 0 ? "one-life" : "two-lives");
    }
    order_digest_deinit(&digest);
    close(file);
    write_text(write, "rank_log", "wrong-digest", "start 3 1 00000000000000ff\n");
}

/* The first byte is even: a whole message, whose rest is the input's last byte. */
static void write_rank_messages(seed_write *write)
{
    for (unsigned kind = CONSUME_STARTED; kind < CONSUME_MESSAGE_COUNT; kind++) {
        char name[16];
        struct consume_message message;
        memset(&message, 0, sizeof(message));
        message.kind = (enum consume_message_kind)kind;
        message.end = CONSUME_FAILED;
        message.number = 2;
        message.first_step = 5;
        message.figures = (struct consume_figures){.next_step = 9, .digest = 1};
        snprintf(message.text, sizeof(message.text), "the store refused");
        snprintf(name, sizeof(name), "%u", kind);
        struct body body = {.bytes = offsetof(struct consume_message, text) + 32,
                            .data = (uint8_t *)&message};
        write_chosen(write, "rank_wire", name, 0, &body);
    }
}

/* ---- tables and addresses ---- */

static void write_tables(seed_write *write)
{
    write_chosen_text(write, "csv", "live", 0,
                      "# a machine\n" LIVE_REFERENCE_COLUMNS "\n"
                      "dac,1,0.96,13.5,120,13.5MB/s,4MiB,60,abc,2026-01-31\n");
    write_chosen_text(write, "csv", "reads", 1,
                      "# a machine\r\n" READ_REFERENCE_COLUMNS "\r\n"
                      "rgw,8,800,1000,900,1100,50,1000,200000\r\n");
    write_chosen_text(write, "csv", "measured", 2,
                      "store,clients,successes_per_s,failed_percent,success_median_ms,"
                      "success_p99_ms\ns3,4,10.5,12,40,90.25\ngcs,1,1e1,0,80,200\n");
    write_chosen_text(write, "csv", "negative", 2,
                      "store,clients,successes_per_s,failed_percent,success_median_ms,"
                      "success_p99_ms\ns3,4,10.5,-12,40,90.25\n");
    write_chosen_text(write, "csv", "short", 2, "store,clients\n");
    write_chosen_text(write, "csv", "unnamed", 1, "# notes only\n");
}

static void write_addresses(seed_write *write)
{
    write_chosen_text(write, "address", "aws", 0,
                      "s3://my-bucket/a/b\n\nus-east-1\neu-west-3\n"
                      "https://my-bucket.s3.eu-west-3.amazonaws.com/a\nrun/x y+z\n");
    write_chosen_text(write, "address", "path", 1,
                      "s3://My_Bucket/p/\nhttp://127.0.0.1:9000\nhere\nthere\n"
                      "http://h:9001/My_Bucket/k\nmanifest/1\n");
    write_chosen_text(write, "address", "virtual", 2,
                      "s3://bucket\nhttps://store.example:443/\nr-1\n\nbucket.other.example\nk\n");
    write_chosen_text(write, "address", "ipv6", 1,
                      "s3://bucket/p\nhttp://[::1]:80\nr\n\nhttps://[::1]/bucket\n\n");
    write_chosen_text(write, "address", "password", 0,
                      "s3://user:word@host/p\nhttp://user:word@host\nr@r\n\nhttp://a:b@bucket\n");
    write_chosen_text(write, "address", "scheme", 0, "https://user:word@host/bucket\n");
    write_chosen_text(write, "address", "file", 0, "file:///a/b\n");
}

static void write_metadata(seed_write *write)
{
    write_chosen_text(write, "imds", "token", 0, "AQAEAL=token-1\r\n");
    write_chosen_text(write, "imds", "role", 0, "my-role\nanother\n");
    write_chosen_text(write, "imds", "keys", 1,
                      "{\"Code\": \"Success\", \"Type\": \"AWS-HMAC\", \"AccessKeyId\": \"AKID\", "
                      "\"SecretAccessKey\": \"se/cr+et=\", \"Token\": \"token\", "
                      "\"Expiration\": \"2026-01-31T23:59:59Z\"}");
    write_chosen_text(write, "imds", "failed", 1, "{\"Code\": \"AssumeRoleUnauthorizedAccess\"}");
    write_chosen_text(write, "imds", "page", 1, "<html>log in</html>");
}

void seeds_of_jobs(seed_write *write)
{
    write_meetings(write);
    write_groups(write);
    write_launchers(write);
    write_checkpoints(write);
    write_orders(write);
    write_logs(write);
    write_rank_messages(write);
    write_tables(write);
    write_addresses(write);
    write_metadata(write);
}
