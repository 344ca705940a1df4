/* live_signals.c - see live_signals.h. Ours. */
#include "experiments/live/live_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "experiments/trials/progress.h"

void live_signals_open(struct live_signals *signals)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    signals->count = 0;
    int failed = sigprocmask(SIG_BLOCK, &wanted, &signals->before);
    assert(failed == 0);
    signals->fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    assert(signals->fd >= 0);
}

uint32_t live_signals_take(struct live_signals *signals)
{
    struct signalfd_siginfo info;
    while (read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        int64_t now_ns = progress_now_ns();
        if (signals->count == 0 || now_ns - signals->last_ns > LIVE_SIGNALS_BURST_NS) {
            signals->count++;
            signals->last_ns = now_ns;
        }
    }
    return signals->count;
}

void live_signals_close(struct live_signals *signals)
{
    close(signals->fd);
    sigprocmask(SIG_SETMASK, &signals->before, NULL);
}
