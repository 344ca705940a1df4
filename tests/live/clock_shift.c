/* clock_shift.c - for LD_PRELOAD: a process whose wall clock is off by CLOCK_SHIFT seconds, so that
 * a clock that jumps between two lives can be tried without touching the machine's. */
#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t shift_s(void)
{
    const char *text = getenv("CLOCK_SHIFT");
    return text != NULL ? (time_t)strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    assert(real != NULL);
    int failed = real(clock, now);
    if (failed == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += shift_s();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone)
{
    struct timespec exact;
    (void)zone;
    int failed = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *now)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now != NULL)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
