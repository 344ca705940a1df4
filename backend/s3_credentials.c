/* s3_credentials.c - the chain: a named profile, the environment, the files' default profile, IMDS.
 * Method: the order of AWS's own tools. */
#include "backend/s3_credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/s3_credentials_private.h"

#define FILE_PATH_MAX 1024

/* The profile that is meant, and the files that may hold it. */
struct chain {
    const char *profile;
    bool named; /* by an option or AWS_PROFILE: it must be there */
    char credentials_path[FILE_PATH_MAX];
    char config_path[FILE_PATH_MAX];
};

void credentials_wipe(struct credentials *credentials)
{
    OPENSSL_cleanse(credentials, sizeof(*credentials));
}

/* NULL: not set, or empty. */
static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* ---- files -------------------------------------------------------------------------------------
 */

/* "" where there is none. */
static void home_folder(char home[FILE_PATH_MAX])
{
    char buffer[4096];
    struct passwd entry, *found = NULL;
    const char *variable = environment("HOME");
    if (variable == NULL && getpwuid_r(getuid(), &entry, buffer, sizeof(buffer), &found) == 0 &&
        found != NULL)
        variable = found->pw_dir;
    snprintf(home, FILE_PATH_MAX, "%s", variable != NULL ? variable : "");
}

static void find_path(const char *variable, const char *usual, char path[FILE_PATH_MAX])
{
    char home[FILE_PATH_MAX];
    const char *given = environment(variable);
    home_folder(home);
    if (given == NULL)
        snprintf(path, FILE_PATH_MAX, "%s/.aws/%s", home, usual);
    else if (given[0] == '~' && given[1] == '/')
        snprintf(path, FILE_PATH_MAX, "%s%s", home, given + 1);
    else
        snprintf(path, FILE_PATH_MAX, "%s", given);
}

static void chain_find(const char *profile, struct chain *chain)
{
    if (profile == NULL || profile[0] == '\0')
        profile = environment("AWS_PROFILE");
    chain->named = profile != NULL;
    chain->profile = profile != NULL ? profile : "default";
    find_path("AWS_SHARED_CREDENTIALS_FILE", "credentials", chain->credentials_path);
    find_path("AWS_CONFIG_FILE", "config", chain->config_path);
}

static enum open_result refuse_file(const char *path, int number, char error[STORE_ERROR_MAX])
{
    snprintf(error, STORE_ERROR_MAX, "%.120s: cannot be read: %s; repair it, or name another file",
             path, strerror(number));
    return OPEN_FAILED;
}

/* Fills a buffer of `bytes`; what it read less is cut. 0, or an error number. */
static int read_whole(int fd, char *text, size_t *bytes)
{
    size_t used = 0;
    while (used < *bytes) {
        ssize_t got = read(fd, text + used, *bytes - used);
        if (got < 0 && errno != EINTR)
            return errno;
        if (got == 0)
            break;
        used += got > 0 ? (size_t)got : 0;
    }
    *bytes = used;
    return 0;
}

static enum open_result read_file(int fd, const char *path, char **text, size_t *bytes,
                                  char error[STORE_ERROR_MAX])
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return refuse_file(path, errno, error);
    bool device = S_ISCHR(status.st_mode); /* /dev/null: how people say "none"; of size 0 */
    if (!(S_ISREG(status.st_mode) || device) || status.st_size > CREDENTIALS_FILE_BYTES_MAX) {
        snprintf(error, STORE_ERROR_MAX, "%.120s: %s", path,
                 S_ISREG(status.st_mode) ? "has more than 1 MiB: not a file of credentials"
                                         : "not a file");
        return OPEN_BAD_INPUT;
    }
    *bytes = (size_t)status.st_size;
    *text = malloc(*bytes > 0 ? *bytes : 1);
    assert(*text != NULL);
    int number = read_whole(fd, *text, bytes);
    return number == 0 ? OPEN_OK : refuse_file(path, number, error);
}

/* Reads what one file says about the profile. A file that is not there says nothing. */
static enum open_result parse_file(const struct chain *chain, const char *path,
                                   struct credentials *credentials,
                                   struct credentials_profile *found,
                                   enum credentials_parsed *parsed, char error[STORE_ERROR_MAX])
{
    char *text = NULL;
    size_t bytes = 0;
    memset(credentials, 0, sizeof(*credentials));
    memset(found, 0, sizeof(*found));
    *parsed = CREDENTIALS_NO_PROFILE;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? OPEN_OK : refuse_file(path, errno, error);
    enum open_result result = read_file(fd, path, &text, &bytes, error);
    close(fd);
    if (result == OPEN_OK) {
        struct credentials_file file = {
            .text = text, .bytes = bytes, .name = path, .prefixed = path == chain->config_path};
        *parsed = credentials_parse(&file, chain->profile, credentials, found, error);
        result = *parsed == CREDENTIALS_MALFORMED ? OPEN_BAD_INPUT : OPEN_OK;
    }
    if (text != NULL)
        OPENSSL_cleanse(text, bytes);
    free(text);
    return result;
}

static enum open_result no_such_profile(const struct chain *chain, char error[STORE_ERROR_MAX])
{
    snprintf(error, STORE_ERROR_MAX,
             "profile \"%.40s\" is neither in %.60s, as [NAME], nor in %.60s, as [profile NAME]; "
             "name another one, or add it",
             chain->profile, chain->credentials_path, chain->config_path);
    return OPEN_FAILED;
}

enum open_result credentials_profile_find(const char *profile, struct credentials_profile *found,
                                          char error[STORE_ERROR_MAX])
{
    struct chain chain;
    struct credentials keys;
    struct credentials_profile other;
    enum credentials_parsed first, second;
    chain_find(profile, &chain);
    enum open_result result =
        parse_file(&chain, chain.credentials_path, &keys, found, &first, error);
    if (result == OPEN_OK)
        result = parse_file(&chain, chain.config_path, &keys, &other, &second, error);
    credentials_wipe(&keys);
    if (result != OPEN_OK)
        return result;
    if (chain.named && first == CREDENTIALS_NO_PROFILE && second == CREDENTIALS_NO_PROFILE)
        return no_such_profile(&chain, error);
    if (found->region[0] == '\0')
        memcpy(found->region, other.region, sizeof(found->region));
    if (found->endpoint[0] == '\0')
        memcpy(found->endpoint, other.endpoint, sizeof(found->endpoint));
    error[0] = '\0';
    return OPEN_OK;
}

/* ---- the chain ---------------------------------------------------------------------------------
 */

/* How far the search is. */
enum search {
    SEARCH_FOUND,
    SEARCH_GO_ON,
    SEARCH_BAD_INPUT,
    SEARCH_FAILED,
};

static enum search take_variable(const char *name, char *field, size_t capacity,
                                 char error[STORE_ERROR_MAX])
{
    const char *value = environment(name);
    const char *wrong =
        value == NULL ? NULL : credentials_take(value, strlen(value), field, capacity);
    if (wrong == NULL)
        return SEARCH_GO_ON;
    snprintf(error, STORE_ERROR_MAX, "%s %s", name, wrong);
    return SEARCH_BAD_INPUT;
}

static enum search search_environment(struct credentials *credentials, char error[STORE_ERROR_MAX])
{
    static const char access[] = "AWS_ACCESS_KEY_ID", secret[] = "AWS_SECRET_ACCESS_KEY";
    bool has_access = environment(access) != NULL, has_secret = environment(secret) != NULL;
    if (!has_access && !has_secret)
        return SEARCH_GO_ON;
    if (!has_access || !has_secret) {
        snprintf(error, STORE_ERROR_MAX, "%s is set, but %s is not; set both, or none",
                 has_access ? access : secret, has_access ? secret : access);
        return SEARCH_BAD_INPUT;
    }
    enum search search =
        take_variable(access, credentials->access_key, sizeof(credentials->access_key), error);
    if (search == SEARCH_GO_ON)
        search =
            take_variable(secret, credentials->secret_key, sizeof(credentials->secret_key), error);
    if (search == SEARCH_GO_ON)
        search = take_variable("AWS_SESSION_TOKEN", credentials->session_token,
                               sizeof(credentials->session_token), error);
    if (search != SEARCH_GO_ON)
        return search;
    credentials->expires_ns = TIME_NEVER;
    snprintf(credentials->source, sizeof(credentials->source), "environment");
    return SEARCH_FOUND;
}

static enum search search_files(const struct chain *chain, struct credentials *credentials,
                                char error[STORE_ERROR_MAX])
{
    const char *const paths[] = {chain->credentials_path, chain->config_path};
    bool seen = false;
    for (size_t i = 0; i < 2; i++) {
        struct credentials_profile ignored;
        enum credentials_parsed parsed;
        enum open_result result =
            parse_file(chain, paths[i], credentials, &ignored, &parsed, error);
        if (result != OPEN_OK)
            return result == OPEN_FAILED ? SEARCH_FAILED : SEARCH_BAD_INPUT;
        if (parsed == CREDENTIALS_PARSED)
            return SEARCH_FOUND;
        if (parsed == CREDENTIALS_UNSUPPORTED)
            return SEARCH_FAILED;
        seen = seen || parsed != CREDENTIALS_NO_PROFILE;
    }
    if (!chain->named || seen)
        return SEARCH_GO_ON;
    (void)no_such_profile(chain, error);
    return SEARCH_FAILED;
}

static enum search search_imds(const struct chain *chain, struct credentials *credentials,
                               char error[STORE_ERROR_MAX])
{
    char why[IMDS_WHY_MAX];
    switch (imds_find(credentials, why)) {
    case IMDS_FOUND:
        return SEARCH_FOUND;
    case IMDS_NONE:
        snprintf(error, STORE_ERROR_MAX,
                 "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give "
                 "profile \"%.32s\" keys in %.70s (EC2's metadata service: %s)",
                 chain->profile, chain->credentials_path, why);
        return SEARCH_FAILED;
    case IMDS_BROKEN:
        snprintf(error, STORE_ERROR_MAX,
                 "no credentials: EC2's metadata service, which was asked last, %s; "
                 "AWS_EC2_METADATA_DISABLED=true leaves it out",
                 why);
        return SEARCH_FAILED;
    }
    return SEARCH_FAILED;
}

enum open_result credentials_find(const char *profile, struct credentials *credentials,
                                  char error[STORE_ERROR_MAX])
{
    struct chain chain;
    bool by_option = profile != NULL && profile[0] != '\0';
    enum search search = SEARCH_GO_ON;
    chain_find(profile, &chain);
    memset(credentials, 0, sizeof(*credentials));
    if (!by_option)
        search = search_environment(credentials, error);
    if (search == SEARCH_GO_ON)
        search = search_files(&chain, credentials, error);
    if (search == SEARCH_GO_ON)
        search = search_imds(&chain, credentials, error);
    if (search == SEARCH_FOUND) {
        error[0] = '\0';
        return OPEN_OK;
    }
    credentials_wipe(credentials);
    return search == SEARCH_BAD_INPUT ? OPEN_BAD_INPUT : OPEN_FAILED;
}
