/* consume_pace.c - see consume_pace.h. One word for each rank; a file is read only while what is
 * known of its rank does not suffice. Ours. */
#include "experiments/consume/consume_pace.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "experiments/consume/checkpoint_file.h"

struct consume_pace {
    const struct consume_job *files;
    uint32_t count;
    _Atomic uint64_t saved[];
};

static size_t bytes_of(uint32_t count)
{
    return sizeof(struct consume_pace) + count * sizeof(_Atomic uint64_t);
}

struct consume_pace *consume_pace_open(uint32_t count, const struct consume_job *files)
{
    struct consume_pace *pace =
        mmap(NULL, bytes_of(count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(pace != MAP_FAILED);
    pace->count = count;
    pace->files = files;
    return pace;
}

void consume_pace_close(struct consume_pace *pace)
{
    int failed = munmap(pace, bytes_of(pace->count));
    assert(failed == 0);
}

int64_t consume_pace_look_ns(const struct consume_pace *pace)
{
    return pace->files != NULL ? 50 * NS_PER_MS : 5 * NS_PER_MS;
}

void consume_pace_tell(struct consume_pace *pace, uint32_t index, uint64_t step)
{
    assert(index < pace->count);
    atomic_store(&pace->saved[index], step);
}

/* A file that cannot be read says nothing. */
static void look(struct consume_pace *pace, uint32_t rank)
{
    const struct consume_job *job = pace->files;
    struct checkpoint_set set;
    char error[CHECKPOINT_FILE_TEXT_MAX];
    struct checkpoint_file file = {
        .folder = job->checkpoints, .run = job->run, .rank = rank, .slices = job->slices};
    if (checkpoint_file_load(&file, &set, error) && set.count > 0)
        consume_pace_tell(pace, rank, set.items[set.count - 1].step);
}

bool consume_pace_reached(struct consume_pace *pace, uint64_t step)
{
    for (uint32_t i = 0; i < pace->count; i++) {
        if (atomic_load(&pace->saved[i]) < step && pace->files != NULL)
            look(pace, i);
        if (atomic_load(&pace->saved[i]) < step)
            return false;
    }
    return true;
}
