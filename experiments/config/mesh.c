/* mesh.c - see mesh.h. Ours. */
#include "experiments/config/mesh.h"

#include <stdio.h>
#include <string.h>

/* Both sides of "8x2"; false: it has another form. */
static bool parse_sides(const char *text, struct tgb_mesh *mesh)
{
    char data[UNIT_TEXT_MAX];
    struct diagnostic ignored;
    uint64_t sides[2];
    size_t chars = strcspn(text, "x");
    if (text[chars] == '\0' || chars >= sizeof(data))
        return false;
    snprintf(data, sizeof(data), "%.*s", (int)chars, text);
    if (!unit_parse_count(data, &sides[0], &ignored) ||
        !unit_parse_count(text + chars + 1, &sides[1], &ignored) || sides[0] == 0 ||
        sides[0] > TGB_SLICES_MAX || sides[1] > TGB_SLICES_MAX)
        return false;
    *mesh = (struct tgb_mesh){.data = (uint32_t)sides[0], .context = (uint32_t)sides[1]};
    return tgb_mesh_valid(*mesh);
}

bool mesh_parse(const char *text, struct tgb_mesh *mesh, struct diagnostic *diagnostic)
{
    struct tgb_mesh parsed = {0};
    if (strcmp(text, "none") != 0 && !parse_sides(text, &parsed)) {
        diagnostic_set(diagnostic,
                       "'%.64s' is not a mesh; expected none, or data-parallel x context-parallel "
                       "ranks such as 8x2, at most %d together",
                       text, TGB_SLICES_MAX);
        return false;
    }
    *mesh = parsed;
    return true;
}

void mesh_print(struct tgb_mesh mesh, char text[UNIT_TEXT_MAX])
{
    if (tgb_mesh_slices(mesh) == 0)
        snprintf(text, UNIT_TEXT_MAX, "none");
    else
        snprintf(text, UNIT_TEXT_MAX, "%ux%u", mesh.data, mesh.context);
}
