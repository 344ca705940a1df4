/* arm_record.c - an arm as a row of the results database. */
#include "experiments/trials/arm_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/options.h"

static char *config_text(const struct config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert(file != NULL);
    options_print(config, file);
    fclose(file);
    return text;
}

/* Which runs there are, and what they are called, does not change what one of them finds. */
static bool decides_numbers(const struct option *option)
{
    static const char *const others[] = {"name",
                                         "title",
                                         "seed",
                                         "seeds",
                                         "live.cap_dollars",
                                         "live.cap_bytes",
                                         "live.cap_requests"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(option->key, others[i]) == 0)
            return false;
    return true;
}

static void hash_config(const struct config *config, char hash[RESULTS_HASH_MAX])
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert(file != NULL);
    for (size_t i = 0; i < option_count(); i++) {
        char value[OPTION_TEXT_MAX];
        if (!decides_numbers(option_at(i)))
            continue;
        option_print(config, option_at(i), value);
        fprintf(file, "%s=%s\n", option_at(i)->key, value);
    }
    fclose(file);
    results_config_hash(text, hash);
    free(text);
}

void arm_record_init(struct arm_record *record, const struct arm *arm)
{
    record->config = config_text(&arm->config);
    hash_config(&arm->config, record->hash);
    record->arm = (struct runner_arm){
        .name = arm->name,
        .group = arm->group,
        .sweep_key = arm->sweep_key != NULL ? arm->sweep_key : "",
        .sweep_value = NAN,
        .store = arm->config.store.profile,
        .config = record->config,
        .config_hash = record->hash,
        .context = &arm->config,
    };
    if (arm->sweep_key != NULL)
        record->arm.sweep_value = option_number(&arm->config, option_find(arm->sweep_key));
}

void arm_record_deinit(struct arm_record *record)
{
    free(record->config);
    record->config = NULL;
}
