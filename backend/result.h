/* result.h - how opening something of the backend can end. The text that comes with it says what
 * failed, where, and what to do. */
#ifndef BACKEND_RESULT_H
#define BACKEND_RESULT_H

enum open_result {
    OPEN_OK,
    OPEN_BAD_INPUT, /* what was asked for makes no sense: a usage error */
    OPEN_FAILED,    /* it makes sense, but this machine refused it */
};

#endif
