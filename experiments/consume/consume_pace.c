/* consume_pace.c - see consume_pace.h. One word for each rank, which that rank alone writes. Ours.
 */
#include "experiments/consume/consume_pace.h"

#include <stdatomic.h>
#include <sys/mman.h>

struct consume_pace {
    uint32_t count;
    _Atomic uint64_t saved[];
};

static size_t bytes_of(uint32_t count)
{
    return sizeof(struct consume_pace) + count * sizeof(_Atomic uint64_t);
}

struct consume_pace *consume_pace_open(uint32_t count)
{
    struct consume_pace *pace =
        mmap(NULL, bytes_of(count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(pace != MAP_FAILED);
    pace->count = count;
    return pace;
}

void consume_pace_close(struct consume_pace *pace)
{
    int failed = munmap(pace, bytes_of(pace->count));
    assert(failed == 0);
}

void consume_pace_tell(struct consume_pace *pace, uint32_t index, uint64_t step)
{
    assert(index < pace->count);
    atomic_store(&pace->saved[index], step);
}

bool consume_pace_reached(const struct consume_pace *pace, uint64_t step)
{
    for (uint32_t i = 0; i < pace->count; i++)
        if (atomic_load(&pace->saved[i]) < step)
            return false;
    return true;
}
