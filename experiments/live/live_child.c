/* live_child.c - see live_child.h. Ours. */
#include "experiments/live/live_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool live_child_start(struct live_child *child, const struct live_producer_options *options,
                      const struct live_child *children, uint32_t count)
{
    int fd;
    pid_t pid = live_process_fork(&fd);
    if (pid < 0)
        return false;
    if (pid == 0) {
        /* Held here, the parent's ends would hide its death from the others. */
        for (uint32_t i = 0; i < count; i++)
            if (children[i].fd >= 0)
                close(children[i].fd);
        struct live_producer_options own = *options;
        own.fd = fd;
        _exit(live_producer_main(&own));
    }
    child->state = LIVE_CHILD_OPENING;
    child->pid = pid;
    child->fd = fd;
    child->ended_told = false;
    return true;
}

void live_child_record(struct live_child *child, const struct live_message *message)
{
    if (message->record_offset == 0) {
        free(child->incoming);
        child->incoming = malloc(message->record_bytes > 0 ? message->record_bytes : 1);
        assert(child->incoming != NULL);
        child->incoming_bytes = message->record_bytes;
        child->incoming_got = 0;
    }
    assert(message->record_offset == child->incoming_got);
    assert(message->payload_bytes <= child->incoming_bytes - child->incoming_got);
    memcpy(child->incoming + child->incoming_got, message->payload, message->payload_bytes);
    child->incoming_got += message->payload_bytes;
    if (child->incoming_got < child->incoming_bytes)
        return;
    free(child->record);
    child->record = child->incoming;
    child->record_bytes = child->incoming_bytes;
    child->incoming = NULL;
    child->incoming_bytes = 0;
    child->incoming_got = 0;
}

bool live_child_reap(struct live_child *child, char text[LIVE_DEATH_TEXT_MAX])
{
    bool by_signal = live_process_reap(child->pid, child->fd, text);
    child->fd = -1;
    return by_signal;
}

void live_child_merge(struct live_child *child, struct recorder *recorder)
{
    if (child->record != NULL) {
        enum recorder_merge_error error =
            recorder_merge(recorder, child->record, child->record_bytes);
        assert(error == RECORDER_MERGED);
    }
    child->before = live_child_counts(child);
    child->counts = (struct live_counts){0};
    free(child->record);
    free(child->incoming);
    child->record = NULL;
    child->incoming = NULL;
}

struct live_counts live_child_counts(const struct live_child *child)
{
    struct live_counts counts = child->before;
    live_counts_add(&counts, &child->counts);
    return counts;
}

void live_child_deinit(struct live_child *child)
{
    free(child->record);
    free(child->incoming);
}
