/* s3_meaning.c - see s3_meaning.h. */
#include "backend/s3_meaning.h"

#include <string.h>

static const struct s3_meaning_row rows[] = {
#define X(name, step, outcome, create_step, create_outcome, advice)                                \
    {S3_STEP_##step, STORE_##outcome, S3_STEP_##create_step, STORE_##create_outcome, advice},
    S3_MEANINGS(X)
#undef X
};

/* Codes that say more than their status. */
static const struct {
    const char *code;
    enum s3_meaning meaning;
} codes[] = {
    {"PreconditionFailed", S3_MEANS_EXISTS},
    {"ConditionalRequestConflict", S3_MEANS_BUSY},
    {"OperationAborted", S3_MEANS_BUSY},
    {"ConcurrentModification", S3_MEANS_BUSY},
    {"NoSuchKey", S3_MEANS_ABSENT},
    {"NoSuchVersion", S3_MEANS_ABSENT},
    {"NotFound", S3_MEANS_ABSENT},
    {"NoSuchBucket", S3_MEANS_NO_BUCKET},
    {"InvalidBucketName", S3_MEANS_NO_BUCKET},
    {"InvalidBucketState", S3_MEANS_OTHER},
    {"BucketAlreadyExists", S3_MEANS_OTHER},
    {"BucketAlreadyOwnedByYou", S3_MEANS_OTHER},
    {"BucketNotEmpty", S3_MEANS_OTHER},
    {"InternalError", S3_MEANS_UNSURE},
    {"RequestTimeout", S3_MEANS_UNSURE},
    {"IncompleteBody", S3_MEANS_UNSURE},
    {"BadDigest", S3_MEANS_UNSURE},
    {"XAmzContentSHA256Mismatch", S3_MEANS_UNSURE},
    {"SlowDown", S3_MEANS_THROTTLED},
    {"SlowDownRead", S3_MEANS_THROTTLED},
    {"SlowDownWrite", S3_MEANS_THROTTLED},
    {"ServiceUnavailable", S3_MEANS_THROTTLED},
    {"RequestLimitExceeded", S3_MEANS_THROTTLED},
    {"BandwidthLimitExceeded", S3_MEANS_THROTTLED},
    {"TooManyRequests", S3_MEANS_THROTTLED},
    {"Throttling", S3_MEANS_THROTTLED},
    {"ThrottlingException", S3_MEANS_THROTTLED},
    {"RequestThrottled", S3_MEANS_THROTTLED},
    {"NotImplemented", S3_MEANS_UNSUPPORTED},
    {"PermanentRedirect", S3_MEANS_ELSEWHERE},
    {"TemporaryRedirect", S3_MEANS_ELSEWHERE},
    {"Redirect", S3_MEANS_ELSEWHERE},
    {"AuthorizationHeaderMalformed", S3_MEANS_ELSEWHERE},
    {"IllegalLocationConstraintException", S3_MEANS_ELSEWHERE},
    {"ExpiredToken", S3_MEANS_EXPIRED},
    {"ExpiredTokenException", S3_MEANS_EXPIRED},
    {"TokenRefreshRequired", S3_MEANS_EXPIRED},
    {"RequestTimeTooSkewed", S3_MEANS_SKEWED},
    {"AccessDenied", S3_MEANS_DENIED},
    {"AllAccessDisabled", S3_MEANS_DENIED},
    {"AccountProblem", S3_MEANS_DENIED},
    {"NotSignedUp", S3_MEANS_DENIED},
    {"InvalidAccessKeyId", S3_MEANS_KEY_UNKNOWN},
    {"XAdminUserNotFound", S3_MEANS_KEY_UNKNOWN}, /* VersityGW's, with 404 */
    {"SignatureDoesNotMatch", S3_MEANS_SIGNATURE},
    {"InvalidToken", S3_MEANS_TOKEN},
    {"InvalidRange", S3_MEANS_BAD_RANGE},
    {"QuotaExceeded", S3_MEANS_FULL},
    {"StorageFull", S3_MEANS_FULL},
    {"XMinioStorageFull", S3_MEANS_FULL},
    {"EntityTooLarge", S3_MEANS_TOO_BIG},
    {"ObjectParentIsFile", S3_MEANS_NESTED},
    {"ExistingObjectIsDirectory", S3_MEANS_NESTED},
    {"XMinioParentIsObject", S3_MEANS_NESTED},
    {"XMinioObjectExistsAsDirectory", S3_MEANS_NESTED},
};

/* Statuses without a code that is known; all others mean OTHER, above 500 UNSURE. */
static const struct {
    int status;
    enum s3_meaning meaning;
} statuses[] = {
    {301, S3_MEANS_ELSEWHERE}, {302, S3_MEANS_IMPOSTOR},    {303, S3_MEANS_IMPOSTOR},
    {304, S3_MEANS_IMPOSTOR},  {307, S3_MEANS_ELSEWHERE},   {308, S3_MEANS_ELSEWHERE},
    {400, S3_MEANS_NOT_S3},    {401, S3_MEANS_FORBIDDEN},   {403, S3_MEANS_FORBIDDEN},
    {404, S3_MEANS_ABSENT},    {405, S3_MEANS_NOT_S3},      {407, S3_MEANS_FORBIDDEN},
    {408, S3_MEANS_UNSURE},    {409, S3_MEANS_BUSY},        {412, S3_MEANS_EXISTS},
    {413, S3_MEANS_TOO_BIG},   {416, S3_MEANS_BAD_RANGE},   {425, S3_MEANS_UNSURE},
    {429, S3_MEANS_THROTTLED}, {501, S3_MEANS_UNSUPPORTED}, {503, S3_MEANS_THROTTLED},
    {507, S3_MEANS_FULL},      {509, S3_MEANS_THROTTLED},   {511, S3_MEANS_FORBIDDEN},
};

const struct s3_meaning_row *s3_meaning_row(enum s3_meaning meaning)
{
    return &rows[meaning];
}

bool s3_meaning_of_code(const char *code, enum s3_meaning *meaning)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (strcmp(codes[i].code, code) == 0) {
            *meaning = codes[i].meaning;
            return true;
        }
    return false;
}

enum s3_meaning s3_meaning_of_status(int status)
{
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        if (statuses[i].status == status)
            return statuses[i].meaning;
    return status >= 500 ? S3_MEANS_UNSURE : S3_MEANS_OTHER;
}
