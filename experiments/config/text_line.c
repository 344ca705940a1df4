/* text_line.c - see text_line.h. Ours. */
#include "experiments/config/text_line.h"

enum text_line text_line_read(FILE *stream, char *text, size_t capacity)
{
    size_t used = 0;
    bool good = true;
    bool any = false;
    int byte;
    assert(capacity > 0);
    while ((byte = getc_unlocked(stream)) != EOF && byte != '\n') {
        any = true;
        good = good && byte != '\0' && used + 1 < capacity;
        if (good)
            text[used++] = (char)byte;
    }
    text[good ? used : 0] = '\0';
    if (byte == '\n')
        return good ? TEXT_LINE_WHOLE : TEXT_LINE_BAD;
    if (!any)
        return TEXT_LINE_END;
    return good ? TEXT_LINE_LAST : TEXT_LINE_BAD_LAST;
}

bool text_line_bad(enum text_line line)
{
    return line == TEXT_LINE_BAD || line == TEXT_LINE_BAD_LAST;
}
