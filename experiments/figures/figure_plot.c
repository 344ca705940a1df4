/* figure_plot.c - finds and runs gnuplot. Scripts get their data and texts as files, so that a
 * figure can be drawn again by hand from what lies beside it. */
#include "experiments/figures/figure_plot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/config/config.h"

#define FONT "DejaVu Sans"
#define OUTPUT_MAX 400

extern char **environ;

/* Runs a program; its output and errors go to `output`, cut at its size. Returns its status, 127
 * where it could not be started. */
static int run(const char *const *arguments, char output[OUTPUT_MAX])
{
    int ends[2];
    pid_t child;
    output[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 127;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    int error = posix_spawnp(&child, arguments[0], &actions, NULL,
                             (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t length = 0;
    char chunk[256];
    ssize_t got;
    while (error == 0 &&
           ((got = read(ends[0], chunk, sizeof(chunk))) > 0 || (got < 0 && errno == EINTR))) {
        size_t size = got > 0 ? (size_t)got : 0;
        size_t room = OUTPUT_MAX - 1 - length;
        memcpy(output + length, chunk, size < room ? size : room);
        length += size < room ? size : room;
        output[length] = '\0';
    }
    close(ends[0]);
    int status = 127;
    while (error == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return error != 0 ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* One line of what a program said: its first that is not empty, blanks folded. */
static void fold(char text[OUTPUT_MAX])
{
    size_t kept = 0;
    for (size_t i = 0; text[i]; i++) {
        bool blank = text[i] == '\n' || text[i] == '\t' || text[i] == ' ';
        if (!blank)
            text[kept++] = text[i];
        else if (kept > 0 && text[kept - 1] != ' ')
            text[kept++] = ' ';
    }
    text[kept] = '\0';
}

bool figure_plot_ready(struct diagnostic *diagnostic)
{
    char output[OUTPUT_MAX];
    if (run((const char *[]){"gnuplot", "--version", NULL}, output) != 0) {
        diagnostic_set(diagnostic, "figures are drawn by gnuplot, which is not on PATH: install "
                                   "the package gnuplot-nox (apt-get install gnuplot-nox), "
                                   "or run make deps");
        return false;
    }
    if (run((const char *[]){"fc-match", "-f", "%{family}", FONT, NULL}, output) != 0 ||
        strstr(output, FONT) == NULL) {
        diagnostic_set(diagnostic, "figures are set in the font " FONT ", which is not installed: "
                                   "install the packages fontconfig and fonts-dejavu-core "
                                   "(apt-get install fontconfig fonts-dejavu-core), "
                                   "or run make deps");
        return false;
    }
    return true;
}

/* What a whole drawing ends with. */
struct drawing {
    const char *terminal;
    const char *end;
    size_t end_bytes;
};

static const struct drawing drawings[] = {
    {"svg", "</svg>", 6},
    {"png", "IEND\xae\x42\x60\x82", 8},
};

#define DRAWING_COUNT (sizeof(drawings) / sizeof(drawings[0]))
#define FILE_PATH_MAX (CONFIG_PATH_MAX + 80)

static void path_of(const char *folder, const char *name, const struct drawing *drawing,
                    char path[FILE_PATH_MAX])
{
    snprintf(path, FILE_PATH_MAX, "%s/%s.%s", folder, name, drawing->terminal);
}

static bool is_whole(const char *path, const struct drawing *drawing)
{
    char tail[32];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t size = 0;
    if (fseek(file, 0, SEEK_END) == 0) {
        long bytes = ftell(file);
        long from = bytes > (long)sizeof(tail) ? bytes - (long)sizeof(tail) : 0;
        size = fseek(file, from, SEEK_SET) == 0 ? fread(tail, 1, sizeof(tail), file) : 0;
    }
    fclose(file);
    while (size > 0 && tail[size - 1] == '\n')
        size--;
    return size >= drawing->end_bytes &&
           memcmp(tail + size - drawing->end_bytes, drawing->end, drawing->end_bytes) == 0;
}

static bool draw(const char *const arguments[], const char *path, const struct drawing *drawing,
                 struct diagnostic *diagnostic)
{
    char output[OUTPUT_MAX];
    const char *name = strrchr(path, '/') + 1;
    int status = run(arguments, output);
    fold(output);
    if (status != 0)
        diagnostic_set(diagnostic, "gnuplot could not draw %s by %s: %s", name, arguments[2],
                       output);
    else if (!is_whole(path, drawing))
        diagnostic_set(diagnostic,
                       "%s was not written whole%s%s; the disk may be full: free space there, "
                       "or choose another folder by --out",
                       name, output[0] ? ": " : "", output);
    else
        return true;
    return false;
}

bool figure_plot_draw(const char *scripts, const char *folder, const char *name,
                      struct diagnostic *diagnostic)
{
    char script[FILE_PATH_MAX];
    char base[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    bool done = true;
    snprintf(script, sizeof(script), "%s/%s.gp", scripts, name);
    snprintf(base, sizeof(base), "%s/%s", folder, name);
    for (size_t i = 0; done && i < DRAWING_COUNT; i++) {
        const char *const arguments[] = {
            "gnuplot", "-c", script, base, scripts, drawings[i].terminal, NULL};
        path_of(folder, name, &drawings[i], path);
        done = draw(arguments, path, &drawings[i], diagnostic);
    }
    for (size_t i = 0; !done && i < DRAWING_COUNT; i++) {
        path_of(folder, name, &drawings[i], path);
        unlink(path);
    }
    return done;
}
