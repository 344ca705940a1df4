/* consume_wire_test.c - messages of a rank's process, as its parent takes them. */
#include "experiments/consume/consume_wire.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness.h"

/* What the parent makes of so many bytes of a message. */
static enum live_receive send_bytes(const struct consume_message *message, size_t bytes)
{
    static struct consume_message received;
    int fds[2];
    CU_ASSERT_TRUE_FATAL(live_wire_make(fds));
    CU_ASSERT_EQUAL(send(fds[0], message, bytes, 0), (ssize_t)bytes);
    enum live_receive result = consume_wire_receive(fds[1], &received);
    CU_ASSERT_TRUE(result != LIVE_RECEIVED || memcmp(&received, message, sizeof(received)) == 0);
    close(fds[0]);
    close(fds[1]);
    return result;
}

static void what_was_sent_is_received(void)
{
    static const struct consume_message message = {
        .kind = CONSUME_ENDED, .end = CONSUME_FAILED, .number = 2, .text = "the store refused"};
    CU_ASSERT_EQUAL(send_bytes(&message, sizeof(message)), LIVE_RECEIVED);
}

static void what_is_no_message_ends_the_connection(void)
{
    static struct consume_message message;
    CU_ASSERT_EQUAL(send_bytes(&message, sizeof(message) - 1), LIVE_HANG_UP);
    message.kind = CONSUME_MESSAGE_COUNT;
    CU_ASSERT_EQUAL(send_bytes(&message, sizeof(message)), LIVE_HANG_UP);
    message.kind = CONSUME_ENDED;
    message.end = (enum consume_end)(CONSUME_FAILED + 1);
    CU_ASSERT_EQUAL(send_bytes(&message, sizeof(message)), LIVE_HANG_UP);
    message.end = CONSUME_DONE;
    memset(message.text, 'x', sizeof(message.text));
    CU_ASSERT_EQUAL(send_bytes(&message, sizeof(message)), LIVE_HANG_UP);
}

const struct harness_test consume_wire_tests[] = {
    HARNESS_TEST(what_was_sent_is_received),
    HARNESS_TEST(what_is_no_message_ends_the_connection),
    {0},
};
