/* live_lead.c - see live_lead.h. Ours. */
#include "experiments/live/live_lead.h"

#include <stdio.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/trials/arm_record.h"

struct live_lead live_lead_make(const struct experiment *experiment, const struct live_ranks *ranks,
                                struct live_signals *signals)
{
    return (struct live_lead){
        .ranks = ranks,
        .meeting = {.config = &experiment->arms[0].config,
                    .experiment = experiment->name,
                    .ranks = ranks,
                    .signals = signals},
    };
}

int live_lead_call(struct live_lead *lead, const struct arm *arm, uint64_t seed, const char *url,
                   struct live_group **group)
{
    struct live_call call = {.seed = seed};
    struct arm_record record;
    char text[LIVE_GROUP_TEXT_MAX];
    *group = NULL;
    if (lead->ranks->count == 1)
        return CLI_DONE;
    lead->group = (struct live_group){
        .ranks = *lead->ranks,
        .config = &arm->config,
        .url = url,
        .signals = lead->meeting.signals,
    };
    live_group_draw_id(lead->group.id);
    arm_record_init(&record, arm);
    snprintf(call.url, sizeof(call.url), "%s", url);
    snprintf(call.arm, sizeof(call.arm), "%s", arm->name);
    memcpy(call.hash, record.hash, sizeof(call.hash));
    memcpy(call.group, lead->group.id, sizeof(call.group));
    arm_record_deinit(&record);
    if (!live_meeting_call(&lead->meeting, &call, text))
        return cli_error(CLI_FAILED, "%s", text);
    *group = &lead->group;
    return CLI_DONE;
}

/* If the word does not come through, the others run out of patience. */
void live_lead_end(struct live_lead *lead, int status)
{
    struct live_call call = {.over = true, .failed = status != CLI_DONE};
    char text[LIVE_GROUP_TEXT_MAX];
    if (lead->ranks->count > 1 && !lead->meeting.lost &&
        !live_meeting_call(&lead->meeting, &call, text))
        cli_error(CLI_DONE, "the other ranks could not be told that it is over: %s", text);
}
