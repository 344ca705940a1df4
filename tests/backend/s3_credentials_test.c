/* s3_credentials_test.c - the chain of credentials: environment, files, IMDS, and that no error
 * holds a secret. Every secret here begins with "hush". */
#include "backend/s3_credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/backend/fixture.h"
#include "tests/backend/imds_server.h"
#include "tests/harness.h"

#define KEYS "aws_access_key_id = AKID\naws_secret_access_key = hush/+=\n"

/* ---- the parser --------------------------------------------------------------------------------
 */

struct parsed {
    enum credentials_parsed parsed;
    struct credentials credentials;
    struct credentials_profile profile;
    char error[STORE_ERROR_MAX];
};

static void parse_bytes(const char *text, size_t bytes, bool prefixed, const char *profile,
                        struct parsed *result)
{
    struct credentials_file file = {
        .text = text, .bytes = bytes, .name = "FILE", .prefixed = prefixed};
    static const struct credentials empty;
    result->parsed =
        credentials_parse(&file, profile, &result->credentials, &result->profile, result->error);
    CU_ASSERT_PTR_NULL(strstr(result->error, "hush"));
    bool said =
        result->parsed == CREDENTIALS_MALFORMED || result->parsed == CREDENTIALS_UNSUPPORTED;
    CU_ASSERT_EQUAL(result->error[0] != '\0', said);
    if (result->parsed != CREDENTIALS_PARSED)
        CU_ASSERT_EQUAL(memcmp(&result->credentials, &empty, sizeof(empty)), 0);
}

static void parse(const char *text, bool prefixed, const char *profile, struct parsed *result)
{
    parse_bytes(text, strlen(text), prefixed, profile, result);
}

static void files_are_read_as_they_are_written(void)
{
    static const struct {
        const char *text;
        bool prefixed;
        const char *profile;
    } rows[] = {
        {"[x]\n" KEYS, false, "x"},
        {"[x]\r\naws_access_key_id = AKID\r\naws_secret_access_key = hush/+=\r\n", false, "x"},
        {"\xef\xbb\xbf[x]\n" KEYS, false, "x"},
        {"[other]\naws_access_key_id = no\n\n[ x ] # this one\n" KEYS, false, "x"},
        {"[x]\naws_access_key_id=AKID\naws_secret_access_key=hush/+=", false, "x"},
        {"# a comment\n;another\n  # [y]\n[x]\t\n\n" KEYS "[z]\n" KEYS, false, "x"},
        {"[x]\n\taws_access_key_id \t= AKID \t \n\tAWS_SECRET_ACCESS_KEY\t=\thush/+= # new\n",
         false, "x"},
        {"[x]\naws_session_token =\noutput = json\naws_session_token = ; none\n" KEYS, false, "x"},
        {"[x]\ns3 =\n  aws_access_key_id = nested\n  not a value\n" KEYS, false, "x"},
        {"[profile x]\n" KEYS, true, "x"},
        {"[x]\nregion = no\n[profile \t x]\n" KEYS, true, "x"},
        {"[profile \"a b\"]\n" KEYS, true, "a b"},
        {"[default]\n" KEYS, true, "default"},
        {"[profile default]\n" KEYS, true, "default"},
        {"[sso-session x]\nsso_start_url = u\n[services s]\ns3 =\n  endpoint_url = u\n[profile "
         "x]\n" KEYS,
         true, "x"},
        {"[\xc3\xa9]\n" KEYS, false, "\xc3\xa9"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct parsed result;
        parse(rows[i].text, rows[i].prefixed, rows[i].profile, &result);
        CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_PARSED);
        CU_ASSERT_STRING_EQUAL(result.credentials.access_key, "AKID");
        CU_ASSERT_STRING_EQUAL(result.credentials.secret_key, "hush/+=");
        CU_ASSERT_STRING_EQUAL(result.credentials.session_token, "");
        CU_ASSERT_STRING_EQUAL(result.credentials.source, "FILE");
        CU_ASSERT_EQUAL(result.credentials.expires_ns, TIME_NEVER);
    }
}

static void all_of_a_profile_is_found(void)
{
    struct parsed result;
    parse("[profile x]\nregion = eu-west-3\nendpoint_url = http://h:1\naws_session_token = "
          "hush\n" KEYS,
          true, "x", &result);
    CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_PARSED);
    CU_ASSERT_STRING_EQUAL(result.credentials.session_token, "hush");
    CU_ASSERT_STRING_EQUAL(result.profile.region, "eu-west-3");
    CU_ASSERT_STRING_EQUAL(result.profile.endpoint, "http://h:1");
    parse("[profile x]\nregion = eu-west-3\n", true, "x", &result);
    CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_NO_KEYS);
    CU_ASSERT_STRING_EQUAL(result.profile.region, "eu-west-3");
}

static void a_profile_that_is_not_there_is_told(void)
{
    static const struct {
        const char *text;
        bool prefixed;
        const char *profile;
    } rows[] = {{"", false, "x"},
                {"\n\n", true, "x"},
                {"[xx]\n" KEYS, false, "x"},
                {"[X]\n" KEYS, false, "x"},
                {"[x]\n" KEYS, true, "x"},
                {"[profilex]\n", true, "x"},
                {"[profile x]\n" KEYS, false, "x"},
                {"[profile y]\n", true, "x"}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct parsed result;
        parse(rows[i].text, rows[i].prefixed, rows[i].profile, &result);
        CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_NO_PROFILE);
    }
}

static void malformed_files_say_where(void)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"aws_secret_access_key = hush\n[x]\n", "FILE:1: a value stands before"},
        {"[x]\n" KEYS "[y]\n[x]\nregion = r\n", "FILE:5: profile \"x\" stands in line 1"},
        {"[x]\n" KEYS "aws_secret_access_key = hush2\n",
         "FILE:4: aws_secret_access_key stands twice"},
        {"[x]\nhush hush\n", "FILE:2: neither a section"},
        {"[x]\n= hush\n", "FILE:2: no name before"},
        {"[hush\n", "FILE:1: a section has no ']'"},
        {"[x] hush\n", "FILE:1: something follows"},
        {"\n[  ]\n", "FILE:2: a section has no name"},
        {"[x]\naws_secret_access_key = hush hush\n", "FILE:2: aws_secret_access_key holds a blank"},
        {"[x]\naws_secret_access_key = hush\xc3\xa9\n", "FILE:2: aws_secret_access_key holds"},
        {"[x]\naws_secret_access_key = \"hush\"\n",
         "FILE:2: aws_secret_access_key stands in quotes"},
        {"[x]\naws_secret_access_key = hush\n  hush\n", "FILE:3: aws_secret_access_key goes on"},
        {"[x]\naws_secret_access_key = hush\n", "FILE:1: profile \"x\" has no aws_access_key_id"},
        {"[x]\naws_access_key_id = hush\n", "FILE:1: profile \"x\" has no aws_secret_access_key"},
        {"[y]\naws_secret_access_key = hush\x01\n", "FILE:2: a control character"},
        {"[x]\raws_secret_access_key = hush\r", "FILE:1: a control character"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct parsed result;
        parse(rows[i].text, false, "x", &result);
        CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_MALFORMED);
        CU_ASSERT_PTR_NOT_NULL(strstr(result.error, rows[i].said));
        if (strstr(result.error, rows[i].said) == NULL)
            printf("%s\n", result.error);
    }
}

static void long_and_binary_files_are_refused(void)
{
    static const char binary[] = "[x]\n" KEYS "\0\x7f\x45\x4c\x46";
    char text[2 * CREDENTIALS_TOKEN_MAX];
    struct parsed result;
    parse_bytes(binary, sizeof(binary), false, "x", &result);
    CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_MALFORMED);
    memset(text, 'h', sizeof(text));
    memcpy(text, "[x]\naws_session_token =", 23);
    parse_bytes(text, 23 + CREDENTIALS_TOKEN_MAX, false, "x", &result);
    CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_MALFORMED);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.error, "longer"));
    parse_bytes(text, 23 + CREDENTIALS_TOKEN_MAX - 1, false, "x", &result);
    CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_NO_KEYS);
}

static void what_is_not_supported_is_named(void)
{
    static const char *const names[] = {"role_arn", "web_identity_token_file", "credential_process",
                                        "sso_start_url", "sso_session"};
    for (size_t i = 0; i < HARNESS_COUNT(names); i++) {
        char text[256];
        struct parsed result;
        snprintf(text, sizeof(text), "[x]\n%s = hush some thing\n" KEYS, names[i]);
        parse(text, false, "x", &result);
        CU_ASSERT_EQUAL(result.parsed, CREDENTIALS_UNSUPPORTED);
        CU_ASSERT_PTR_NOT_NULL(strstr(result.error, names[i]));
    }
}

/* ---- the chain ---------------------------------------------------------------------------------
 */

/* A home folder of its own, and no variable that matters. */
struct home {
    char path[SCRATCH_MAX];
    char before[1024];
};

static void home_open(struct home *home)
{
    static const char *const names[] = {"AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_PROFILE",
                                        "AWS_SHARED_CREDENTIALS_FILE",
                                        "AWS_CONFIG_FILE",
                                        "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                        "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"};
    char folder[SCRATCH_MAX + 8];
    const char *before = getenv("HOME");
    snprintf(home->before, sizeof(home->before), "%s", before != NULL ? before : "");
    for (size_t i = 0; i < HARNESS_COUNT(names); i++)
        unsetenv(names[i]);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    scratch_make(home->path);
    setenv("HOME", home->path, 1);
    snprintf(folder, sizeof(folder), "%s/.aws", home->path);
    CU_ASSERT_EQUAL_FATAL(mkdir(folder, 0700), 0);
}

static void home_close(struct home *home)
{
    setenv("HOME", home->before, 1);
    scratch_remove(home->path);
}

static void home_write(const struct home *home, const char *name, const char *text)
{
    char path[SCRATCH_MAX + 32];
    snprintf(path, sizeof(path), "%s/.aws/%s", home->path, name);
    scratch_write(path, text);
}

/* What is found, by its access key; and, unless OPEN_OK, what the error says. */
static void expect(const char *profile, enum open_result result, const char *text)
{
    static const struct credentials empty;
    struct credentials found;
    char error[STORE_ERROR_MAX] = "";
    CU_ASSERT_EQUAL(credentials_find(profile, &found, error), result);
    CU_ASSERT_PTR_NULL(strstr(error, "hush"));
    CU_ASSERT_EQUAL(error[0] == '\0', result == OPEN_OK);
    if (result == OPEN_OK) {
        CU_ASSERT_STRING_EQUAL(found.access_key, text);
    } else {
        CU_ASSERT_PTR_NOT_NULL(strstr(error, text));
        CU_ASSERT_EQUAL(memcmp(&found, &empty, sizeof(empty)), 0);
        if (strstr(error, text) == NULL)
            printf("%s\n", error);
    }
    credentials_wipe(&found);
}

static void keys_of(const char *access_key, char text[128])
{
    snprintf(text, 128, "aws_access_key_id = %s\naws_secret_access_key = hush\n", access_key);
}

static void the_chain_has_its_order(void)
{
    struct home home;
    char text[512], first[128], second[128];
    home_open(&home);
    expect(NULL, OPEN_FAILED, "switched off");
    keys_of("CONFIG", first);
    keys_of("NAMED", second);
    snprintf(text, sizeof(text), "[default]\n%s[profile named]\n%s", first, second);
    home_write(&home, "config", text);
    expect(NULL, OPEN_OK, "CONFIG");
    keys_of("SHARED", first);
    snprintf(text, sizeof(text), "[default]\n%s", first);
    home_write(&home, "credentials", text);
    expect(NULL, OPEN_OK, "SHARED");
    expect("", OPEN_OK, "SHARED");
    setenv("AWS_PROFILE", "named", 1);
    expect(NULL, OPEN_OK, "NAMED");
    setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
    expect(NULL, OPEN_OK, "ENV");
    expect("default", OPEN_OK, "SHARED");
    expect("missing", OPEN_FAILED, "[profile NAME]");
    home_close(&home);
}

static void a_half_set_environment_is_refused(void)
{
    struct home home;
    home_open(&home);
    setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
    expect(NULL, OPEN_BAD_INPUT, "AWS_SECRET_ACCESS_KEY is not");
    setenv("AWS_SECRET_ACCESS_KEY", "", 1);
    expect(NULL, OPEN_BAD_INPUT, "AWS_SECRET_ACCESS_KEY is not");
    setenv("AWS_SECRET_ACCESS_KEY", "hush\r", 1);
    expect(NULL, OPEN_BAD_INPUT, "AWS_SECRET_ACCESS_KEY holds a blank");
    setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
    setenv("AWS_SESSION_TOKEN", "hush\r\nHost: evil", 1);
    expect(NULL, OPEN_BAD_INPUT, "AWS_SESSION_TOKEN holds a blank");
    unsetenv("AWS_ACCESS_KEY_ID");
    expect(NULL, OPEN_BAD_INPUT, "AWS_ACCESS_KEY_ID is not");
    home_close(&home);
}

static void files_that_cannot_be_used_are_named(void)
{
    struct home home;
    char path[SCRATCH_MAX + 32];
    home_open(&home);
    home_write(&home, "credentials", "[default]\nhush\n");
    expect(NULL, OPEN_BAD_INPUT, ".aws/credentials:2: ");
    snprintf(path, sizeof(path), "%s/.aws", home.path);
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    expect(NULL, OPEN_BAD_INPUT, "not a file");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    expect(NULL, OPEN_FAILED, "switched off"); /* it says nothing, and is no mistake */
    setenv("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/huge", 1);
    home_write(&home, "huge", "");
    snprintf(path, sizeof(path), "%s/.aws/huge", home.path);
    CU_ASSERT_EQUAL(truncate(path, CREDENTIALS_FILE_BYTES_MAX + 1), 0);
    expect(NULL, OPEN_BAD_INPUT, "1 MiB");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/proc/self/mem/x", 1);
    home_write(&home, "config", "[default]\nsso_session = s\n");
    expect(NULL, OPEN_FAILED, "sso_session");
    home_close(&home);
}

static void profiles_say_region_and_endpoint(void)
{
    struct home home;
    struct credentials_profile found;
    char error[STORE_ERROR_MAX];
    home_open(&home);
    CU_ASSERT_EQUAL(credentials_profile_find(NULL, &found, error), OPEN_OK);
    CU_ASSERT_STRING_EQUAL(found.region, "");
    home_write(&home, "config",
               "[default]\nregion = one\nendpoint_url = http://h\n[profile x]\n"
               "region = two\nrole_arn = a\n");
    home_write(&home, "credentials", "[x]\nregion = three\n");
    CU_ASSERT_EQUAL(credentials_profile_find(NULL, &found, error), OPEN_OK);
    CU_ASSERT_STRING_EQUAL(found.region, "one");
    CU_ASSERT_STRING_EQUAL(found.endpoint, "http://h");
    CU_ASSERT_EQUAL(credentials_profile_find("x", &found, error), OPEN_OK);
    CU_ASSERT_STRING_EQUAL(found.region, "three");
    CU_ASSERT_STRING_EQUAL(error, "");
    CU_ASSERT_EQUAL(credentials_profile_find("missing", &found, error), OPEN_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "missing"));
    home_write(&home, "config", "hush");
    CU_ASSERT_EQUAL(credentials_profile_find("x", &found, error), OPEN_BAD_INPUT);
    CU_ASSERT_PTR_NULL(strstr(error, "hush"));
    home_close(&home);
}

/* ---- IMDS --------------------------------------------------------------------------------------
 */

static void expect_imds(const struct imds_script *script, enum open_result result, const char *text)
{
    struct imds_server server;
    imds_server_start(&server, script);
    setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.endpoint, 1);
    expect(NULL, result, text);
    imds_server_stop(&server);
}

static void a_machine_role_is_found(void)
{
    static const struct imds_script script = IMDS_SCRIPT_GOOD;
    struct home home;
    struct imds_server server;
    struct credentials found;
    char error[STORE_ERROR_MAX] = "";
    home_open(&home);
    unsetenv("AWS_EC2_METADATA_DISABLED");
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    imds_server_start(&server, &script);
    setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.endpoint, 1);
    CU_ASSERT_EQUAL(credentials_find(NULL, &found, error), OPEN_OK);
    CU_ASSERT_STRING_EQUAL(error, "");
    CU_ASSERT_STRING_EQUAL(found.access_key, "ASIA");
    CU_ASSERT_STRING_EQUAL(found.secret_key, "hush");
    CU_ASSERT_STRING_EQUAL(found.session_token, "hush/token==");
    CU_ASSERT_STRING_EQUAL(found.source, "IMDS");
    CU_ASSERT_EQUAL(found.expires_ns, 1769903999 * NS_PER_S);
    imds_server_stop(&server);
    unsetenv("http_proxy");
    home_close(&home);
}

static void odd_metadata_services_are_told(void)
{
    static const struct imds_script good = IMDS_SCRIPT_GOOD;
    struct imds_script script;
    struct home home;
    home_open(&home);
    unsetenv("AWS_EC2_METADATA_DISABLED");
    script = good;
    script.fail_first = true;
    expect_imds(&script, OPEN_OK, "ASIA");
    script = good;
    script.token = "HTTP/1.1 403 Forbidden\r\n\r\nhush";
    expect_imds(&script, OPEN_FAILED, "answered 403 to the request for a token");
    script.token = "HTTP/1.1 302 Found\r\nLocation: /latest/api/elsewhere\r\n\r\n";
    expect_imds(&script, OPEN_FAILED, "answered 302");
    script.token = "HTTP/1.1 200 OK\r\n\r\nhush\x01hush";
    expect_imds(&script, OPEN_FAILED, "a token that is none");
    script.token = "SSH-2.0-OpenSSH_9.2\r\n";
    expect_imds(&script, OPEN_FAILED, "no credentials: set AWS_ACCESS_KEY_ID");
    script = good;
    script.role = "HTTP/1.1 404 Not Found\r\n\r\n";
    expect_imds(&script, OPEN_FAILED, "no role");
    script.role = "HTTP/1.1 200 OK\r\n\r\n";
    expect_imds(&script, OPEN_FAILED, "role's name");
    script = good;
    script.keys = "HTTP/1.1 200 OK\r\n\r\n{\"Code\":\"Failed\",\"Message\":\"hush\"}";
    expect_imds(&script, OPEN_FAILED, "cannot be had now");
    script.keys = "HTTP/1.1 200 OK\r\n\r\n{\"SecretAccessKey\":\"hush\"}";
    expect_imds(&script, OPEN_FAILED, "no AccessKeyId");
    script.keys = "HTTP/1.1 200 OK\r\n\r\n{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"hush\\n\"}";
    expect_imds(&script, OPEN_FAILED, "no SecretAccessKey");
    script.keys = "HTTP/1.1 200 OK\r\n\r\nhush<html>";
    expect_imds(&script, OPEN_FAILED, "not JSON");
    script.keys = IMDS_KEYS("tomorrow");
    expect_imds(&script, OPEN_FAILED, "no Expiration");
    home_close(&home);
}

static void an_endless_answer_is_cut(void)
{
    static const struct imds_script good = IMDS_SCRIPT_GOOD;
    struct imds_script script = good;
    struct home home;
    home_open(&home);
    unsetenv("AWS_EC2_METADATA_DISABLED");
    script.endless = true;
    expect_imds(&script, OPEN_FAILED, "no credentials");
    home_close(&home);
}

static void a_silent_metadata_service_costs_seconds(void)
{
    static const struct imds_script script = {.silent = true};
    struct timespec before, after;
    struct home home;
    home_open(&home);
    unsetenv("AWS_EC2_METADATA_DISABLED");
    clock_gettime(CLOCK_MONOTONIC, &before);
    expect_imds(&script, OPEN_FAILED, "no credentials: set AWS_ACCESS_KEY_ID");
    clock_gettime(CLOCK_MONOTONIC, &after);
    CU_ASSERT_TRUE(after.tv_sec - before.tv_sec <= 4);
    home_close(&home);
}

static void nobody_there_is_told_at_once(void)
{
    struct home home;
    home_open(&home);
    unsetenv("AWS_EC2_METADATA_DISABLED");
    setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1/", 1);
    expect(NULL, OPEN_FAILED, "connect");
    setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "file:///etc", 1);
    expect(NULL, OPEN_FAILED, "rotocol");
    home_close(&home);
}

const struct harness_test s3_credentials_tests[] = {
    HARNESS_TEST(files_are_read_as_they_are_written),
    HARNESS_TEST(all_of_a_profile_is_found),
    HARNESS_TEST(a_profile_that_is_not_there_is_told),
    HARNESS_TEST(malformed_files_say_where),
    HARNESS_TEST(long_and_binary_files_are_refused),
    HARNESS_TEST(what_is_not_supported_is_named),
    HARNESS_TEST(the_chain_has_its_order),
    HARNESS_TEST(a_half_set_environment_is_refused),
    HARNESS_TEST(files_that_cannot_be_used_are_named),
    HARNESS_TEST(profiles_say_region_and_endpoint),
    HARNESS_TEST(a_machine_role_is_found),
    HARNESS_TEST(odd_metadata_services_are_told),
    HARNESS_TEST(an_endless_answer_is_cut),
    HARNESS_TEST(a_silent_metadata_service_costs_seconds),
    HARNESS_TEST(nobody_there_is_told_at_once),
    {0}};
