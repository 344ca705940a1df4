/* consume_files_target.c - what `lakestream consume` keeps beside the store and tells its parent:
 * checkpoints, the committed order, logs of ranks, messages. What is accepted is written by the
 * encoder to what is read back to the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "experiments/consume/checkpoint_file.h"
#include "experiments/consume/consume_wire.h"
#include "experiments/consume/order_digest.h"
#include "experiments/consume/rank_log.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

#define ORDER_STEPS 6 /* of the order that logs are held against, from step 3 on */
#define RANK 1
#define SLICES 2

void fuzz_checkpoints(const uint8_t *data, size_t size);
void fuzz_order(const uint8_t *data, size_t size);
void fuzz_rank_log(const uint8_t *data, size_t size);
void fuzz_rank_wire(const uint8_t *data, size_t size);

/* ---- checkpoints ---- */

static void check_set(const struct checkpoint_file *file, const struct checkpoint_set *set)
{
    char error[CHECKPOINT_FILE_TEXT_MAX] = "";
    struct checkpoint_set again;
    assert(set->count <= CHECKPOINTS_MAX);
    for (uint32_t i = 0; i < set->count; i++) {
        assert(set->items[i].step >= 1 && set->items[i].step < INT64_MAX);
        assert(set->items[i].number >= 1 && set->items[i].number < INT64_MAX);
        assert(i == 0 || set->items[i - 1].step < set->items[i].step);
    }
    char *text = checkpoint_file_print(file, set);
    struct checkpoint_text printed = {.name = "again", .text = text, .bytes = strlen(text)};
    bool read = checkpoint_file_parse(file, &printed, &again, error);
    assert(read && memcmp(&again, set, sizeof(again)) == 0);
    free(text);
}

void fuzz_checkpoints(const uint8_t *data, size_t size)
{
    static const struct checkpoint_set empty;
    const struct checkpoint_file file = {.folder = "", .run = "00ff", .rank = 3, .slices = 4};
    const struct checkpoint_text text = {"rank-3.json", (const char *)data, size};
    char error[CHECKPOINT_FILE_TEXT_MAX] = "";
    struct checkpoint_set set;
    if (checkpoint_file_parse(&file, &text, &set, error)) {
        check_set(&file, &set);
        return;
    }
    check_told(error, sizeof(error));
    assert(memcmp(&set, &empty, sizeof(set)) == 0);
}

/* ---- the order ---- */

static void write_order(FILE *stream, const struct order *order)
{
    for (size_t i = 0; i < order->count; i++)
        order_file_write(stream, &order->lines[i]);
}

static void check_order(const struct order *order)
{
    char path[SCRATCH_PATH_MAX];
    char error[ORDER_DIGEST_TEXT_MAX] = "";
    char *text = NULL;
    size_t bytes = 0;
    struct order again;
    FILE *stream = open_memstream(&text, &bytes);
    assert(stream != NULL && order->count > 0);
    write_order(stream, order);
    fclose(stream);
    for (size_t i = 0; i < order->count; i++) {
        assert(order->lines[i].step == order->lines[0].step + i);
        assert(order_at(order, order->lines[i].step) == &order->lines[i]);
    }
    int file = scratch_open((const uint8_t *)text, bytes, path);
    bool read = order_read(path, &again, error);
    assert(read && again.count == order->count);
    assert(memcmp(again.lines, order->lines, again.count * sizeof(*again.lines)) == 0);
    order_deinit(&again);
    scratch_close(file);
    free(text);
}

void fuzz_order(const uint8_t *data, size_t size)
{
    char path[SCRATCH_PATH_MAX];
    char error[ORDER_DIGEST_TEXT_MAX] = "";
    struct order order;
    int file = scratch_open(data, size, path);
    if (order_read(path, &order, error))
        check_order(&order);
    else
        check_told(error, sizeof(error));
    order_deinit(&order);
    scratch_close(file);
}

/* ---- logs of ranks ---- */

static char folder[] = "/tmp/lakestream-fuzz-XXXXXX";
static char link_path[sizeof(folder) + 16];

static void remove_folder(void)
{
    unlink(link_path);
    rmdir(folder);
}

/* The input as FOLDER/rank-1.log, which stays one link to one file in memory. */
static void write_log(const uint8_t *data, size_t size)
{
    static int file = -1;
    if (file < 0) {
        char target[SCRATCH_PATH_MAX];
        char *made = mkdtemp(folder);
        file = memfd_create("fuzz-log", MFD_CLOEXEC);
        assert(made != NULL && file >= 0);
        snprintf(target, sizeof(target), "/proc/self/fd/%d", file);
        snprintf(link_path, sizeof(link_path), "%s/rank-%d.log", folder, RANK);
        int linked = symlink(target, link_path);
        assert(linked == 0);
        atexit(remove_folder);
    }
    int cut = ftruncate(file, 0);
    ssize_t written = pwrite(file, data, size, 0);
    assert(cut == 0 && written == (ssize_t)size);
}

/* The line by the log's own writers, read back. */
static void check_line(const struct rank_line *line)
{
    struct rank_line again;
    int file = memfd_create("fuzz-line", MFD_CLOEXEC);
    assert(file >= 0);
    struct consumer_delivery delivery = {.step = line->step};
    delivery.entry.tgb = (struct tgb_name){
        .producer = line->producer, .epoch = line->epoch, .sequence = line->sequence};
    delivery.slice.bytes = line->slice_bytes;
    bool told = line->start ? rank_log_start(file, line->step, line->number, line->digest)
                            : rank_log_step(file, &delivery, line->digest);
    assert(told);
    off_t at = lseek(file, 0, SEEK_SET);
    assert(at == 0);
    struct rank_log log = {.stream = fdopen(file, "r")};
    assert(log.stream != NULL);
    enum rank_log_next next = rank_log_next(&log, &again);
    assert(next == RANK_LOG_LINE);
    assert(again.start == line->start && again.step == line->step);
    assert(again.number == line->number && again.sequence == line->sequence);
    assert(again.slice_bytes == line->slice_bytes && again.digest == line->digest);
    assert(again.producer == line->producer && again.epoch == line->epoch);
    next = rank_log_next(&log, &again);
    assert(next == RANK_LOG_END);
    rank_log_close(&log);
}

static void read_lines(void)
{
    char error[RANK_LOG_TEXT_MAX] = "";
    struct rank_log log;
    struct rank_line line;
    bool opened = rank_log_read(&log, folder, RANK, error);
    assert(opened);
    for (enum rank_log_next next; (next = rank_log_next(&log, &line)) != RANK_LOG_END;)
        if (next == RANK_LOG_LINE && log.line <= 4)
            check_line(&line);
    rank_log_close(&log);
}

void fuzz_rank_log(const uint8_t *data, size_t size)
{
    struct order_line lines[ORDER_STEPS];
    char error[ORDER_DIGEST_TEXT_MAX] = "";
    struct order order = {.count = ORDER_STEPS, .lines = lines};
    struct order_lives lives;
    for (uint64_t i = 0; i < ORDER_STEPS; i++)
        lines[i] = (struct order_line){.step = 3 + i, .sequence = 1 + i, .tgb_bytes = 4096};
    write_log(data, size);
    read_lines();
    if (!order_check_log(&order, SLICES, RANK, folder, &lives, error)) {
        check_told(error, sizeof(error));
        return;
    }
    assert(lives.lives > 0 && lives.first >= 3 && lives.next <= 3 + ORDER_STEPS);
    assert(lives.given >= lives.next - lives.first);
}

/* ---- messages ---- */

/* A message whose first bytes are the input, and the rest its last one. */
void fuzz_rank_wire(const uint8_t *data, size_t size)
{
    static int fds[2] = {-1, -1};
    static struct consume_message sent;
    static struct consume_message message;
    if (fds[0] < 0) {
        bool made = live_wire_make(fds);
        assert(made);
    }
    if (size < 2)
        return; /* nothing would be sent */
    size_t bytes = data[0] % 2 == 0 ? sizeof(sent) : size - 1;
    bytes = bytes < sizeof(sent) ? bytes : sizeof(sent);
    memset(&sent, data[size - 1], sizeof(sent));
    memcpy(&sent, data + 1, size - 1 < sizeof(sent) ? size - 1 : sizeof(sent));
    ssize_t written = send(fds[0], &sent, bytes, 0);
    assert(written == (ssize_t)bytes);
    enum live_receive received = consume_wire_receive(fds[1], &message);
    assert(received != LIVE_NOTHING);
    assert(consume_wire_receive(fds[1], &sent) == LIVE_NOTHING);
    if (received != LIVE_RECEIVED)
        return;
    assert(bytes == sizeof(sent));
    assert(message.kind < CONSUME_MESSAGE_COUNT && message.end <= CONSUME_FAILED);
    assert(memchr(message.text, '\0', sizeof(message.text)) != NULL);
}
