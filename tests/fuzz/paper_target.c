/* paper_target.c - files of the project that the figures read: the reported numbers, and the page
 * whose marked parts are rewritten. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/figures/paper.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

void fuzz_reported(const uint8_t *data, size_t size);
void fuzz_paper(const uint8_t *data, size_t size);

void fuzz_reported(const uint8_t *data, size_t size)
{
    static struct reported reported;
    char path[SCRATCH_PATH_MAX];
    struct diagnostic diagnostic = {0};
    int file = scratch_open(data, size, path);
    if (reported_read(path, &reported, &diagnostic)) {
        assert(reported.count <= REPORTED_MAX);
        for (size_t i = 0; i < reported.count; i++) {
            const struct reported_row *row = &reported.rows[i];
            assert(row->id[0] != '\0' && row->text[0] != '\0');
            assert(reported_find(&reported, row->id, row->name) != NULL);
            (void)reported_number(&reported, row->id, row->name);
        }
    } else {
        assert(diagnostic.text[0] != '\0');
    }
    scratch_close(file);
}

static char folder[] = "/tmp/lakestream-fuzz-XXXXXX";
static char page[sizeof(folder) + 16];

static void remove_page(void)
{
    unlink(page);
    rmdir(folder);
}

static void write_page(const uint8_t *data, size_t size)
{
    if (page[0] == '\0') {
        char *made = mkdtemp(folder);
        assert(made != NULL);
        snprintf(page, sizeof(page), "%s/page.md", folder);
        atexit(remove_page);
    }
    FILE *file = fopen(page, "we");
    assert(file != NULL);
    size_t written = fwrite(data, 1, size, file);
    assert(written == size);
    int closed = fclose(file);
    assert(closed == 0);
}

static size_t read_page(char *text, size_t capacity)
{
    FILE *file = fopen(page, "re");
    assert(file != NULL);
    size_t size = fread(text, 1, capacity - 1, file);
    fclose(file);
    text[size] = '\0';
    return size;
}

/* What stands before and behind the markers stays, and rewriting twice changes nothing. */
void fuzz_paper(const uint8_t *data, size_t size)
{
    static const char text[] = "| generated |\n";
    static char after[2 * FUZZ_INPUT_MAX];
    static char twice[2 * FUZZ_INPUT_MAX];
    struct diagnostic diagnostic = {0};
    if (size > FUZZ_INPUT_MAX)
        return;
    write_page(data, size);
    if (!paper_rewrite(page, "p1", text, &diagnostic)) {
        assert(diagnostic.text[0] != '\0');
        size_t kept = read_page(after, sizeof(after));
        assert(kept == size && memcmp(after, data, size) == 0);
        return;
    }
    (void)read_page(after, sizeof(after));
    const char *begin = strstr(after, "<!-- p1:begin -->\n");
    assert(begin != NULL && memcmp(after, data, (size_t)(begin - after)) == 0);
    begin += strlen("<!-- p1:begin -->\n");
    assert(strncmp(begin, text, strlen(text)) == 0);
    size_t tail = strlen(begin + strlen(text));
    assert(tail <= size && memcmp(begin + strlen(text), data + size - tail, tail) == 0);
    bool again = paper_rewrite(page, "p1", text, &diagnostic);
    assert(again);
    (void)read_page(twice, sizeof(twice));
    assert(strcmp(after, twice) == 0);
}
