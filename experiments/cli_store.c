/* cli_store.c - see cli_store.h. */
#include "experiments/cli_store.h"

#include <string.h>

bool cli_s3_options(const struct cli *cli, size_t endpoint, struct s3_options *options)
{
    static const char *const styles[] = {
        [S3_STYLE_AUTO] = "auto", [S3_STYLE_PATH] = "path", [S3_STYLE_VIRTUAL] = "virtual"};
    *options = (struct s3_options){
        .endpoint = endpoint < cli->endpoint_count ? cli->endpoints[endpoint] : NULL,
        .region = cli->region,
        .profile = cli->profile,
        .ca_file = cli->ca_file,
        .payload = cli->unsigned_payload ? S3_PAYLOAD_UNSIGNED : S3_PAYLOAD_SIGNED,
    };
    if (cli->style == NULL)
        return true;
    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
        if (strcmp(styles[i], cli->style) == 0) {
            options->style = (enum s3_style)i;
            return true;
        }
    cli_error(CLI_USAGE, "--style %s: there are auto, path and virtual", cli->style);
    return false;
}
