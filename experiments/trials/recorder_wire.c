/* recorder_wire.c - a recorder as bytes, from a child process to its parent over a pipe.
 *
 * Layout: header; one struct recorder_sums per bin; bins x producers committed bytes; per producer
 * its oldest invisible time and invisible bytes; then all histograms, bins' before producers'
 * before verbs', each as first, size and counts. All fields are 8 bytes in the machine's own order.
 * The reader trusts nothing: everything is checked before the first addition. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "experiments/trials/recorder.h"
#include "experiments/trials/recorder_private.h"

#define MAGIC UINT64_C(0x3230524543534b4c) /* raise its last digits with the layout */

struct header {
    uint64_t magic;
    uint64_t size;     /* of all, header included */
    uint64_t checksum; /* XXH3-64 of what follows the checksum */
    uint64_t sums_bytes;
    int64_t start_ns;
    int64_t duration_ns;
    int64_t warmup_ns;
    int64_t bin_ns;
    uint64_t producers;
    uint64_t failed_producers;
    uint64_t in_flight_max;
    char failure[RECORDER_TEXT_MAX];
};

struct wire_producer {
    int64_t oldest_invisible_ns;
    uint64_t invisible_bytes;
};

static_assert(sizeof(struct header) == 88 + RECORDER_TEXT_MAX, "no padding on the wire");
static_assert(sizeof(struct recorder_sums) % sizeof(uint64_t) == 0, "no padding on the wire");
static_assert(sizeof(struct wire_producer) == 16, "no padding on the wire");

static size_t checksum_start(void)
{
    return offsetof(struct header, sums_bytes);
}

static struct histogram *histogram_at(const struct recorder *recorder, size_t index)
{
    size_t producers = recorder->options.producers;
    if (index < recorder->bin_count)
        return &recorder->bins[index].age;
    index -= recorder->bin_count;
    return index < producers ? &recorder->producers[index].age
                             : &recorder->latency[index - producers];
}

static size_t histogram_count(const struct recorder *recorder)
{
    return (size_t)recorder->bin_count + recorder->options.producers + STORE_VERB_COUNT;
}

/* Size of everything before the histograms. */
static size_t fixed_bytes(const struct recorder *recorder)
{
    size_t cells = (size_t)recorder->bin_count * recorder->options.producers;
    return sizeof(struct header) + recorder->bin_count * sizeof(struct recorder_sums) +
           cells * sizeof(uint64_t) + recorder->options.producers * sizeof(struct wire_producer);
}

static uint8_t *put(uint8_t *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
    return to + size;
}

static struct header header_of(const struct recorder *recorder)
{
    struct header header = {
        .magic = MAGIC,
        .sums_bytes = sizeof(struct recorder_sums),
        .start_ns = recorder->options.start_ns,
        .duration_ns = recorder->options.duration_ns,
        .warmup_ns = recorder->options.warmup_ns,
        .bin_ns = recorder->options.bin_ns,
        .producers = recorder->options.producers,
        .failed_producers = recorder->failed_producers,
        .in_flight_max = recorder->in_flight_max,
    };
    memcpy(header.failure, recorder->failure, sizeof(header.failure));
    return header;
}

uint8_t *recorder_serialize(const struct recorder *recorder, size_t *size)
{
    struct header header = header_of(recorder);
    size_t histograms = histogram_count(recorder);
    header.size = fixed_bytes(recorder);
    for (size_t i = 0; i < histograms; i++)
        header.size += (2 + histogram_at(recorder, i)->size) * sizeof(uint64_t);
    uint8_t *bytes = malloc(header.size);
    assert(bytes != NULL);
    uint8_t *to = bytes + sizeof(header);
    for (uint32_t i = 0; i < recorder->bin_count; i++)
        to = put(to, &recorder->bins[i].sums, sizeof(struct recorder_sums));
    size_t cells = (size_t)recorder->bin_count * recorder->options.producers;
    to = put(to, recorder->committed, cells * sizeof(uint64_t));
    for (uint32_t i = 0; i < recorder->options.producers; i++) {
        struct wire_producer producer = {recorder->producers[i].oldest_invisible_ns,
                                         recorder->producers[i].invisible_bytes};
        to = put(to, &producer, sizeof(producer));
    }
    for (size_t i = 0; i < histograms; i++) {
        const struct histogram *histogram = histogram_at(recorder, i);
        uint64_t range[2] = {histogram->first, histogram->size};
        to = put(to, range, sizeof(range));
        to = put(to, histogram->counts, histogram->size * sizeof(uint64_t));
    }
    assert(to == bytes + header.size);
    memcpy(bytes, &header, sizeof(header));
    header.checksum = XXH3_64bits(bytes + checksum_start(), header.size - checksum_start());
    memcpy(bytes, &header, sizeof(header));
    *size = header.size;
    return bytes;
}

/* Walks the histograms from `from` to the end; adds them where `recorder` is not NULL. False if
 * they do not fill the bytes exactly or hold an impossible range. */
static bool take_histograms(const uint8_t *from, const uint8_t *end, size_t count,
                            struct recorder *recorder)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t range[2];
        if ((size_t)(end - from) < sizeof(range))
            return false;
        memcpy(range, from, sizeof(range));
        from += sizeof(range);
        if (range[0] >= HISTOGRAM_BUCKETS || range[1] > HISTOGRAM_BUCKETS - range[0])
            return false;
        if ((size_t)(end - from) / sizeof(uint64_t) < range[1])
            return false;
        for (uint64_t j = 0; j < range[1]; j++, from += sizeof(uint64_t)) {
            uint64_t number;
            memcpy(&number, from, sizeof(number));
            if (number > UINT64_MAX / HISTOGRAM_BUCKETS / 4)
                return false;
            if (recorder != NULL)
                histogram_add_count(histogram_at(recorder, i), (uint32_t)(range[0] + j), number);
        }
    }
    return from == end;
}

/* Times of the run's clock: a batch is made after it began, where it is there at all. */
static bool producers_possible(const struct recorder *recorder, const uint8_t *from)
{
    for (uint32_t i = 0; i < recorder->options.producers;
         i++, from += sizeof(struct wire_producer)) {
        struct wire_producer producer;
        memcpy(&producer, from, sizeof(producer));
        if (producer.oldest_invisible_ns < 0)
            return false;
    }
    return true;
}

static size_t producers_at(const struct recorder *recorder)
{
    return fixed_bytes(recorder) - recorder->options.producers * sizeof(struct wire_producer);
}

static enum recorder_merge_error check(const struct recorder *recorder, const uint8_t *bytes,
                                       size_t size, const struct header *header)
{
    if (header->magic != MAGIC || header->sums_bytes != sizeof(struct recorder_sums))
        return RECORDER_BAD_MAGIC;
    if (header->size != size)
        return RECORDER_TRUNCATED;
    if (header->checksum != XXH3_64bits(bytes + checksum_start(), size - checksum_start()))
        return RECORDER_BAD_CHECKSUM;
    const struct recorder_options *options = &recorder->options;
    if (header->start_ns != options->start_ns || header->duration_ns != options->duration_ns ||
        header->warmup_ns != options->warmup_ns || header->bin_ns != options->bin_ns ||
        header->producers != options->producers)
        return RECORDER_OTHER_OPTIONS;
    size_t fixed = fixed_bytes(recorder);
    if (size < fixed || header->failed_producers > header->producers ||
        memchr(header->failure, '\0', sizeof(header->failure)) == NULL ||
        !producers_possible(recorder, bytes + producers_at(recorder)) ||
        !take_histograms(bytes + fixed, bytes + size, histogram_count(recorder), NULL))
        return RECORDER_BAD_FIELD;
    return RECORDER_MERGED;
}

static const uint8_t *add_producers(struct recorder *recorder, const uint8_t *from)
{
    for (uint32_t i = 0; i < recorder->options.producers; i++) {
        struct recorder_producer *into = &recorder->producers[i];
        struct wire_producer producer;
        memcpy(&producer, from, sizeof(producer));
        from += sizeof(producer);
        if (producer.oldest_invisible_ns < into->oldest_invisible_ns)
            into->oldest_invisible_ns = producer.oldest_invisible_ns;
        into->invisible_bytes += producer.invisible_bytes;
    }
    return from;
}

enum recorder_merge_error recorder_merge(struct recorder *recorder, const uint8_t *bytes,
                                         size_t size)
{
    struct header header;
    if (size < sizeof(header))
        return RECORDER_TRUNCATED;
    memcpy(&header, bytes, sizeof(header));
    enum recorder_merge_error error = check(recorder, bytes, size, &header);
    if (error != RECORDER_MERGED)
        return error;
    const uint8_t *from = bytes + sizeof(header);
    for (uint32_t i = 0; i < recorder->bin_count; i++, from += sizeof(struct recorder_sums)) {
        struct recorder_sums sums;
        memcpy(&sums, from, sizeof(sums));
        recorder_add_sums(&recorder->bins[i].sums, &sums);
    }
    size_t cells = (size_t)recorder->bin_count * recorder->options.producers;
    for (size_t i = 0; i < cells; i++, from += sizeof(uint64_t)) {
        uint64_t committed;
        memcpy(&committed, from, sizeof(committed));
        recorder->committed[i] += committed;
    }
    from = add_producers(recorder, from);
    bool taken = take_histograms(from, bytes + size, histogram_count(recorder), recorder);
    assert(taken);
    if (recorder->failed_producers == 0)
        memcpy(recorder->failure, header.failure, sizeof(recorder->failure));
    recorder->failed_producers += (uint32_t)header.failed_producers;
    recorder_note_in_flight(recorder, header.in_flight_max);
    return RECORDER_MERGED;
}

const char *recorder_merge_text(enum recorder_merge_error error)
{
    static const char *const texts[] = {
#define X(code, text) text,
        RECORDER_MERGES(X)
#undef X
    };
    assert((size_t)error < sizeof(texts) / sizeof(*texts));
    return texts[error];
}
