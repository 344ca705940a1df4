/* s3_credentials_imds.c - credentials of an EC2 machine's role. Method: the AWS reference "Use
 * IMDSv2": a PUT for a session's token, then a GET for the role's name and one for its keys, by
 * libcurl and jansson. The answers are as hostile as any. No proxy, no redirect, no netrc: what the
 * machine says about itself comes from the machine. */
#include <curl/curl.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "backend/s3_credentials_private.h"
#include "backend/sigv4.h"

#define ENDPOINT_IPV4 "http://169.254.169.254"
#define ENDPOINT_IPV6 "http://[fd00:ec2::254]"
#define ENDPOINT_MAX 256
#define ROLES_PATH "/latest/meta-data/iam/security-credentials/"
#define ANSWER_MAX (16 << 10)
#define TOKEN_MAX 1024
#define ROLE_MAX 129

struct imds {
    CURL *easy;
    char endpoint[ENDPOINT_MAX]; /* without a slash at its end */
    char token_header[TOKEN_MAX + 32];
    unsigned retries; /* left */
    size_t answer_bytes;
    char answer[ANSWER_MAX];
};

/* True: it is switched off. */
static bool find_endpoint(char endpoint[ENDPOINT_MAX])
{
    const char *disabled = getenv("AWS_EC2_METADATA_DISABLED");
    const char *given = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    const char *mode = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");
    bool ipv6 = mode != NULL && strcasecmp(mode, "IPv6") == 0;
    if (given == NULL || given[0] == '\0')
        given = ipv6 ? ENDPOINT_IPV6 : ENDPOINT_IPV4;
    snprintf(endpoint, ENDPOINT_MAX, "%s", given);
    size_t bytes = strlen(endpoint);
    if (bytes > 0 && endpoint[bytes - 1] == '/')
        endpoint[bytes - 1] = '\0';
    return disabled != NULL && strcasecmp(disabled, "true") == 0;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static size_t take_answer(char *data, size_t size, size_t count, void *context)
{
    struct imds *imds = context;
    size_t bytes = size * count;
    if (bytes > sizeof(imds->answer) - imds->answer_bytes)
        return 0;
    memcpy(imds->answer + imds->answer_bytes, data, bytes);
    imds->answer_bytes += bytes;
    return bytes;
}

static void set_up(struct imds *imds)
{
    CURL *easy = imds->easy;
    long timeout_ms = (long)(CREDENTIALS_IMDS_NS / NS_PER_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, imds);
}

static bool worth_a_retry(CURLcode code, long status)
{
    return code == CURLE_OK ? status >= 500 : code != CURLE_COULDNT_CONNECT;
}

/* Sends one request; once more if the retry is left. The status; 0: none came. */
static long request(struct imds *imds, const char *method, const char *path, const char *header,
                    char why[IMDS_WHY_MAX])
{
    char url[ENDPOINT_MAX + 3 * ROLE_MAX + 64];
    struct curl_slist *headers = curl_slist_append(NULL, header);
    CURLcode code;
    long status;
    assert(headers != NULL);
    snprintf(url, sizeof(url), "%s%s", imds->endpoint, path);
    curl_easy_setopt(imds->easy, CURLOPT_URL, url);
    curl_easy_setopt(imds->easy, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(imds->easy, CURLOPT_HTTPHEADER, headers);
    do {
        status = 0;
        imds->answer_bytes = 0;
        code = curl_easy_perform(imds->easy);
        if (code == CURLE_OK)
            curl_easy_getinfo(imds->easy, CURLINFO_RESPONSE_CODE, &status);
    } while (worth_a_retry(code, status) && imds->retries > 0 && imds->retries-- > 0);
    curl_easy_setopt(imds->easy, CURLOPT_HTTPHEADER, NULL);
    OPENSSL_cleanse(headers->data, strlen(headers->data));
    curl_slist_free_all(headers);
    if (code != CURLE_OK)
        snprintf(why, IMDS_WHY_MAX, "%s", curl_easy_strerror(code));
    return status;
}

bool imds_parse_line(const char *answer, size_t bytes, char *line, size_t capacity)
{
    const char *end = memchr(answer, '\n', bytes);
    bytes = end == NULL ? bytes : (size_t)(end - answer);
    if (bytes > 0 && answer[bytes - 1] == '\r')
        bytes--;
    return bytes > 0 && credentials_take(answer, bytes, line, capacity) == NULL;
}

static enum imds_result refuse_status(long status, const char *what, char why[IMDS_WHY_MAX])
{
    if (status == 0)
        return IMDS_NONE; /* `why` says it already */
    snprintf(why, IMDS_WHY_MAX, "answered %ld to the request for %s", status, what);
    return IMDS_BROKEN;
}

static enum imds_result get_token(struct imds *imds, char why[IMDS_WHY_MAX])
{
    static const char name[] = "X-aws-ec2-metadata-token: ";
    long status = request(imds, "PUT", "/latest/api/token",
                          "X-aws-ec2-metadata-token-ttl-seconds: 21600", why);
    if (status != 200)
        return refuse_status(status, "a token", why);
    memcpy(imds->token_header, name, sizeof(name));
    if (imds_parse_line(imds->answer, imds->answer_bytes, imds->token_header + sizeof(name) - 1,
                        TOKEN_MAX))
        return IMDS_FOUND;
    snprintf(why, IMDS_WHY_MAX, "gave a token that is none");
    return IMDS_BROKEN;
}

static enum imds_result get_role(struct imds *imds, char role[ROLE_MAX], char why[IMDS_WHY_MAX])
{
    long status = request(imds, "GET", ROLES_PATH, imds->token_header, why);
    if (status == 404) {
        snprintf(why, IMDS_WHY_MAX, "this machine has no role");
        return IMDS_NONE;
    }
    if (status != 200)
        return refuse_status(status, "the role's name", why);
    if (imds_parse_line(imds->answer, imds->answer_bytes, role, ROLE_MAX))
        return IMDS_FOUND;
    snprintf(why, IMDS_WHY_MAX, "gave a role's name that is none");
    return IMDS_BROKEN;
}

/* ---- the document ------------------------------------------------------------------------------
 */

static bool take_string(const json_t *document, const char *name, char *field, size_t capacity)
{
    const json_t *value = json_object_get(document, name);
    const char *text = json_string_value(value);
    return text != NULL && text[0] != '\0' &&
           credentials_take(text, json_string_length(value), field, capacity) == NULL;
}

/* "2026-01-31T23:59:59Z" */
static bool take_expiry(const json_t *document, int64_t *expires_ns)
{
    struct tm utc = {0};
    const char *text = json_string_value(json_object_get(document, "Expiration"));
    const char *end = text == NULL ? NULL : strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (end == NULL || *end != '\0' || utc.tm_year < 70 || utc.tm_year > 300)
        return false;
    *expires_ns = (int64_t)timegm(&utc) * NS_PER_S;
    return true;
}

static const char *read_document(const json_t *document, struct credentials *credentials)
{
    const char *code = json_string_value(json_object_get(document, "Code"));
    if (code != NULL && strcmp(code, "Success") != 0)
        return "says that the role's keys cannot be had now";
    if (!take_string(document, "AccessKeyId", credentials->access_key,
                     sizeof(credentials->access_key)))
        return "gave no AccessKeyId";
    if (!take_string(document, "SecretAccessKey", credentials->secret_key,
                     sizeof(credentials->secret_key)))
        return "gave no SecretAccessKey";
    if (!take_string(document, "Token", credentials->session_token,
                     sizeof(credentials->session_token)))
        return "gave no Token";
    return take_expiry(document, &credentials->expires_ns) ? NULL : "gave no Expiration";
}

const char *imds_parse_keys(const char *answer, size_t bytes, struct credentials *credentials)
{
    struct credentials read = {.source = "IMDS"};
    json_t *document = json_loadb(answer, bytes, JSON_REJECT_DUPLICATES, NULL);
    const char *wrong =
        document == NULL ? "gave keys that are not JSON" : read_document(document, &read);
    json_decref(document);
    if (wrong == NULL)
        *credentials = read;
    credentials_wipe(&read);
    return wrong;
}

static enum imds_result get_keys(struct imds *imds, const char *role,
                                 struct credentials *credentials, char why[IMDS_WHY_MAX])
{
    char path[sizeof(ROLES_PATH) + 3 * ROLE_MAX] = ROLES_PATH;
    const size_t before = sizeof(ROLES_PATH) - 1;
    sigv4_encode(role, SIGV4_ENCODE_SLASH, path + before, sizeof(path) - before);
    long status = request(imds, "GET", path, imds->token_header, why);
    if (status != 200)
        return refuse_status(status, "the role's keys", why);
    const char *wrong = imds_parse_keys(imds->answer, imds->answer_bytes, credentials);
    if (wrong == NULL)
        return IMDS_FOUND;
    snprintf(why, IMDS_WHY_MAX, "%s", wrong);
    return IMDS_BROKEN;
}

enum imds_result imds_find(struct credentials *credentials, char why[IMDS_WHY_MAX])
{
    char role[ROLE_MAX];
    struct imds *imds = calloc(1, sizeof(*imds));
    assert(imds != NULL);
    enum imds_result result = IMDS_NONE;
    snprintf(why, IMDS_WHY_MAX, "switched off");
    if (!find_endpoint(imds->endpoint)) {
        imds->retries = 1;
        imds->easy = curl_easy_init();
        assert(imds->easy != NULL);
        set_up(imds);
        result = get_token(imds, why);
        if (result == IMDS_FOUND)
            result = get_role(imds, role, why);
        if (result == IMDS_FOUND)
            result = get_keys(imds, role, credentials, why);
        curl_easy_cleanup(imds->easy);
    }
    OPENSSL_cleanse(imds, sizeof(*imds));
    free(imds);
    return result;
}
