/* s3_listing_test.c - what the S3 store makes of listings that lie, or stop half way. */
#include <string.h>

#include "tests/backend/s3_rig.h"
#include "tests/harness.h"

#define LISTING(inner)                                                                             \
    "<ListBucketResult><EncodingType>url</EncodingType>" inner "</ListBucketResult>"
#define KEY(key) "<Contents><Key>" key "</Key><Size>1</Size></Contents>"

static enum store_outcome list_answered(const char *body, struct s3_rig_op *op)
{
    struct s3_rig rig;
    s3_rig_open(&rig, NULL, NULL);
    s3_rig_rule(&rig,
                &(struct hostile_rule){
                    .reply = HOSTILE_SAY, .apply = HOSTILE_APPLY_NOT, .status = 200, .body = body});
    s3_rig_op_init(op, STORE_LIST, "m/");
    memcpy(op->op.after, "m/2", sizeof("m/2"));
    op->op.list_keys_max = 2;
    enum store_outcome outcome = s3_rig_do(&rig, op);
    s3_rig_close(&rig);
    return outcome;
}

static void listings_that_were_not_asked_for_are_refused(void)
{
    static const char *const bodies[] = {
        LISTING("<IsTruncated>false</IsTruncated>" KEY("run/m/1") KEY("run/m/3")),
        LISTING("<IsTruncated>false</IsTruncated>" KEY("run/m/2")),
        LISTING("<IsTruncated>false</IsTruncated>" KEY("run/n/1")),
        LISTING("<IsTruncated>false</IsTruncated>" KEY("other/m/3")),
        LISTING("<IsTruncated>true</IsTruncated>" KEY("run/m/3")),
        LISTING("<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"),
        "<html><body>Please log in</body></html>",
        "",
    };
    for (size_t i = 0; i < HARNESS_COUNT(bodies); i++) {
        struct s3_rig_op op;
        CU_ASSERT_EQUAL(list_answered(bodies[i], &op), STORE_FAILED);
        CU_ASSERT_EQUAL(op.op.page.count, 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(op.op.error, "s3://bucket/run/m/"));
        store_op_deinit(&op.op);
    }
}

static void more_keys_than_asked_for_are_left_for_later(void)
{
    struct s3_rig_op op;
    CU_ASSERT_EQUAL(list_answered(LISTING("<IsTruncated>false</IsTruncated>" KEY("run/m/3")
                                              KEY("run/m/4") KEY("run/m/5")),
                                  &op),
                    STORE_OK);
    CU_ASSERT_EQUAL_FATAL(op.op.page.count, 2);
    CU_ASSERT_STRING_EQUAL(list_page_key(&op.op.page, 1), "m/4");
    CU_ASSERT_TRUE(op.op.page.truncated);
    store_op_deinit(&op.op);
}

/* An empty page that asks for its token, or a 416 without a size, is no answer: time that runs out
 * during the hold-off that another operation met must not make one of it. */
static void an_answer_half_given_is_not_ok(void)
{
    static const struct {
        enum store_verb verb;
        int status;
        const char *body;
    } halves[] = {
        {STORE_LIST, 200,
         LISTING(
             "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>")},
        {STORE_GET, 416, ""},
    };
    for (size_t i = 0; i < HARNESS_COUNT(halves); i++) {
        struct s3_rig rig;
        static struct s3_rig_op half, held;
        const struct s3_options options = {.connections = 1, .operation_ns = NS_PER_S};
        s3_rig_open(&rig, NULL, &options);
        s3_rig_rule(&rig, &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL},
                                                 .reply = HOSTILE_SAY,
                                                 .apply = HOSTILE_APPLY_NOT,
                                                 .status = 503,
                                                 .headers = "Retry-After: 30\r\n"});
        s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY,
                                                 .apply = HOSTILE_APPLY_NOT,
                                                 .status = halves[i].status,
                                                 .body = halves[i].body});
        s3_rig_op_init(&half, halves[i].verb, "m/1");
        half.op.list_keys_max = 2;
        half.op.range_offset = 5;
        s3_rig_op_init(&held, STORE_PUT_IF_ABSENT, "m/2");
        s3_rig_submit(&rig, &half);
        s3_rig_submit(&rig, &held);
        s3_rig_run(&rig);
        CU_ASSERT_EQUAL(held.op.outcome, STORE_THROTTLED);
        CU_ASSERT_EQUAL(half.op.outcome, STORE_THROTTLED);
        CU_ASSERT_EQUAL(half.op.page.count, 0);
        CU_ASSERT_FALSE(half.op.page.truncated);
        store_op_deinit(&half.op);
        store_op_deinit(&held.op);
        s3_rig_close(&rig);
    }
}

const struct harness_test s3_listing_tests[] = {
    HARNESS_TEST(listings_that_were_not_asked_for_are_refused),
    HARNESS_TEST(more_keys_than_asked_for_are_left_for_later),
    HARNESS_TEST(an_answer_half_given_is_not_ok),
    {0},
};
