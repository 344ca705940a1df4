/* live_access.c - see live_access.h. Ours. */
#include "experiments/live/live_access.h"

struct live_session_options live_access_of(const struct config *config)
{
    const struct live_config *live = &config->live;
    return (struct live_session_options){
        .access = DIRECTORY_WRITE,
        .sync = live->sync == TOGGLE_ON ? DIRECTORY_SYNC : DIRECTORY_NO_SYNC,
        .workers = (uint32_t)live->workers,
        .mesh = config->mesh,
        .s3 = {.endpoint = live->endpoint,
               .region = live->region,
               .profile = live->profile,
               .ca_file = live->ca_file,
               .style = live->style,
               .payload = live->payload,
               .connections = (uint32_t)live->connections,
               .attempt_ns = live->deadline_ns},
    };
}
