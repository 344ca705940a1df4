/* mesh.h - a mesh as people write it: "8x2" is 8 data-parallel times 2 context-parallel ranks, and
 * "none" plain TGBs (core/tgb.h). */
#ifndef EXPERIMENTS_MESH_H
#define EXPERIMENTS_MESH_H

#include <stdbool.h>

#include "core/tgb.h"
#include "experiments/config/units.h"

/* False: the mesh is untouched, and the diagnostic says what is expected. */
MUST_USE bool mesh_parse(const char *text, struct tgb_mesh *mesh, struct diagnostic *diagnostic);
void mesh_print(struct tgb_mesh mesh, char text[UNIT_TEXT_MAX]);

#endif
