/* cli_config.c - see cli_config.h. */
#include "experiments/cli_config.h"

#include "experiments/config/options.h"

bool cli_config_set(struct config *config, enum origin_kind kind, const char *text)
{
    const struct origin origin = {.kind = kind};
    struct diagnostic diagnostic;
    const struct option *option;
    const char *value;
    if (option_parse_override(text, &option, &value, &diagnostic) &&
        option_set(config, option, value, &origin, &diagnostic))
        return true;
    cli_error(CLI_USAGE, "%s", diagnostic.text);
    return false;
}

bool cli_config_fill(const struct cli *cli, const char *const *defaults, size_t count,
                     struct config *config)
{
    struct cli_overrides overrides;
    config_default(config);
    if (!cli_overrides(cli, &overrides))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!cli_config_set(config, ORIGIN_DEFAULT, defaults[i]))
            return false;
    for (size_t i = 0; i < overrides.count; i++)
        if (!cli_config_set(config, ORIGIN_SET, overrides.texts[i]))
            return false;
    return true;
}
