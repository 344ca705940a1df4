/* consume_pace.c - see consume_pace.h. One word for each rank; a file is read only while what is
 * known of its rank does not suffice. Ours. */
#include "experiments/consume/consume_pace.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "experiments/consume/consume_place.h"

struct pace_rank {
    _Atomic uint64_t saved;
    uint64_t number; /* of its file as it was found: a process of this start changes it */
    uint64_t step;
};

struct consume_pace {
    const struct consume_job *files;
    uint32_t count;
    struct pace_rank ranks[];
};

static size_t bytes_of(uint32_t count)
{
    return sizeof(struct consume_pace) + count * sizeof(struct pace_rank);
}

/* A file that cannot be read says nothing. */
static bool read_file(const struct consume_pace *pace, uint32_t rank, uint64_t *number,
                      uint64_t *step)
{
    struct checkpoint_set set;
    char error[CHECKPOINT_FILE_TEXT_MAX];
    struct checkpoint_file file = consume_place_file(pace->files, rank);
    if (!checkpoint_file_load(&file, &set, error) || set.count == 0)
        return false;
    *number = checkpoint_highest_number(&set);
    *step = set.items[set.count - 1].step;
    return true;
}

struct consume_pace *consume_pace_open(uint32_t count, const struct consume_job *files)
{
    struct consume_pace *pace =
        mmap(NULL, bytes_of(count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(pace != MAP_FAILED);
    pace->count = count;
    pace->files = files;
    for (uint32_t i = 0; i < count && files != NULL; i++)
        (void)read_file(pace, i, &pace->ranks[i].number, &pace->ranks[i].step);
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
    atomic_store(&pace->ranks[index].saved, step);
}

/* What it held when this process began may be from a start before, and be given up by the rank when
 * it comes. Who is here already, and ahead, changes it once this rank has saved behind the place
 * where all began. */
static void look(struct consume_pace *pace, uint32_t rank)
{
    uint64_t number;
    uint64_t step;
    const struct pace_rank *found = &pace->ranks[rank];
    if (read_file(pace, rank, &number, &step) && (number != found->number || step != found->step))
        consume_pace_tell(pace, rank, step);
}

bool consume_pace_reached(struct consume_pace *pace, uint64_t step, uint32_t *behind)
{
    if (pace->files != NULL && step <= pace->files->rollback)
        return true; /* where all began, which each keeps until all are behind it */
    for (uint32_t i = 0; i < pace->count; i++) {
        if (atomic_load(&pace->ranks[i].saved) < step && pace->files != NULL)
            look(pace, i);
        if (atomic_load(&pace->ranks[i].saved) < step) {
            *behind = i;
            return false;
        }
    }
    return true;
}
