/* plane_fixture.c - see plane_fixture.h. */
#include "tests/experiments/plane_fixture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/name.h"

void plane_open(struct plane *plane, const char *mesh, int batches)
{
    live_scratch_make(plane->scratch);
    live_path(plane->folder, plane->scratch, "run");
    live_path(plane->checkpoints, plane->scratch, "checkpoints");
    snprintf(plane->url, sizeof(plane->url), "file://%s", plane->folder);
    plane_produce(plane, mesh, batches);
}

void plane_close(struct plane *plane)
{
    scratch_remove(plane->scratch);
}

void plane_produce(struct plane *plane, const char *mesh, int batches)
{
    char set[64];
    char count[16];
    snprintf(set, sizeof(set), "tgb.mesh=%s", mesh);
    snprintf(count, sizeof(count), "%d", batches);
    struct live_process_options options = {
        .scratch = plane->scratch,
        .name = "produce",
        .arguments = {"produce", plane->url, "--count", count, "--bytes", "16KiB", "--set", set},
    };
    int status = live_process_run(&plane->process, &options);
    assert(status == 0);
}

void plane_start(struct plane *plane, struct live_process *process, const char *name,
                 const char *verb, const char *const *words)
{
    struct live_process_options options = {
        .scratch = plane->scratch, .name = name, .arguments = {verb, plane->url}};
    for (int i = 0; words[i] != NULL; i++) {
        assert(i + 2 < LIVE_ARGUMENTS_MAX);
        options.arguments[i + 2] = words[i];
    }
    live_process_start(process, &options);
}

int plane_run(struct plane *plane, const char *verb, const char *const *words)
{
    plane_start(plane, &plane->process, verb, verb, words);
    return live_process_wait(&plane->process, 60);
}

bool plane_said(const struct live_process *process, const char *text)
{
    char *all = live_read(process->err);
    bool said = strstr(all, text) != NULL;
    if (!said)
        printf("\n  expected %s\n  found    %s\n", text, all);
    free(all);
    return said;
}

json_t *plane_json(const struct live_process *process)
{
    return json_load_file(process->out, 0, NULL);
}

bool plane_tgb_path(const struct plane *plane, uint64_t step, char path[LIVE_PATH_MAX])
{
    char folder[LIVE_PATH_MAX];
    char ending[64];
    live_path(folder, plane->folder, "tgb+");
    snprintf(ending, sizeof(ending), "-%llu-%llu", (unsigned long long)step,
             (unsigned long long)(step * PLANE_TGB_BYTES));
    return live_find_file(folder, ending, path);
}

void plane_newest_path(const struct plane *plane, char path[LIVE_PATH_MAX])
{
    char key[STORE_KEY_MAX];
    char next[LIVE_PATH_MAX];
    uint64_t version = 1;
    do {
        name_version(key, version++);
        memcpy(path, next, sizeof(next));
        live_path(next, plane->folder, "manifest+/%s", key + strlen(NAME_MANIFEST_PREFIX));
    } while (access(next, F_OK) == 0 || version == 2);
}

void plane_write(const struct plane *plane, const char *name, const char *text)
{
    char path[LIVE_PATH_MAX];
    live_path(path, plane->folder, "%s", name);
    scratch_write(path, text);
}
