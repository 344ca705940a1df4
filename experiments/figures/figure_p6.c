/* figure_p6.c - the paper's P6: bytes fetched over bytes needed, by the number of ranks: slices and
 * dense reads as simulated, a broker's fan-out as arithmetic, slices as real servers sent them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/config/units.h"
#include "experiments/figures/figure.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/read_reference.h"

#define REFERENCE "configs/reference/p6.csv"
#define AMPLIFICATION_ASKED 1.02
#define DENSE_RANKS 128 /* of the dense read that is reported */

enum kind {
    KIND_SLICES,
    KIND_DENSE,
};

/* What a broker sends to so many ranks: to each the whole record. */
static double fan_out(uint64_t ranks)
{
    return (double)ranks;
}

static enum kind kind_of(const struct figure_arm *arm)
{
    return tgb_mesh_slices(arm->config.mesh) > 0 ? KIND_SLICES : KIND_DENSE;
}

static double metric(const struct figure_data *data, const struct figure_arm *arm, const char *name)
{
    return figure_mean(data, arm, name).mean;
}

/* NULL: not run. */
static const struct figure_arm *arm_of(const struct figure_data *data, enum kind kind,
                                       uint64_t ranks)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (kind_of(&data->arms[i]) == kind && data->arms[i].config.ranks.count == ranks)
            return &data->arms[i];
    return NULL;
}

static int compare_worlds(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

/* Ascending, to be freed by the caller. */
static uint64_t *worlds_of(const struct figure_data *data, size_t *count)
{
    uint64_t *worlds = calloc(data->arm_count, sizeof(*worlds));
    assert(worlds != NULL);
    *count = 0;
    for (size_t i = 0; i < data->arm_count; i++) {
        bool known = false;
        for (size_t k = 0; k < *count; k++)
            known = known || worlds[k] == data->arms[i].config.ranks.count;
        if (!known)
            worlds[(*count)++] = data->arms[i].config.ranks.count;
    }
    qsort(worlds, *count, sizeof(*worlds), compare_worlds);
    return worlds;
}

/* ---- what was kept of live runs ---- */

static struct read_reference *read_kept(void)
{
    struct read_reference *reference = calloc(1, sizeof(*reference));
    struct diagnostic diagnostic;
    char path[CONFIG_PATH_MAX];
    assert(reference != NULL);
    cli_data_path(REFERENCE, path);
    if (!read_reference_read(path, reference, &diagnostic)) {
        reference->count = 0;
        snprintf(reference->notes, sizeof(reference->notes), "No live runs were kept: %s.\n",
                 diagnostic.text);
    }
    return reference;
}

/* The most that any server sent beside a slice: what simulated slices are charged. 0: none kept. */
static double heads_bytes(const struct read_reference *reference)
{
    double most = 0;
    for (size_t i = 0; i < reference->count; i++)
        most = fmax(most, read_reference_heads(&reference->rows[i]));
    return most;
}

static double live_slices(const struct read_reference_row *row)
{
    return (double)row->slice_bytes / (double)row->needed_bytes;
}

static double live_all(const struct read_reference_row *row)
{
    return (double)row->wire_bytes / (double)row->needed_bytes;
}

/* Of all servers. NAN: none kept for so many ranks. */
static double live_worst(const struct read_reference *reference, uint64_t ranks,
                         double (*of)(const struct read_reference_row *row))
{
    double worst = NAN;
    for (size_t i = 0; i < reference->count; i++)
        if (reference->rows[i].ranks == ranks)
            worst = fmax(worst, of(&reference->rows[i]));
    return worst;
}

/* ---- one number of ranks ---- */

struct world {
    uint64_t ranks;
    double slices;     /* bytes of slices, their headers included, over those needed */
    double with_heads; /* and what HTTP adds, as measured */
    double chain;      /* bytes of manifests over those needed */
    double all;        /* of the last two */
    double requests;   /* of all kinds, for a step of a rank */
    double dense;      /* whole TGBs */
    double live_slices;
    double live_all; /* all that was received */
};

static struct world world_of(const struct figure_data *data, const struct read_reference *reference,
                             uint64_t ranks)
{
    const struct figure_arm *slices = arm_of(data, KIND_SLICES, ranks);
    const struct figure_arm *dense = arm_of(data, KIND_DENSE, ranks);
    struct world world = {.ranks = ranks,
                          .slices = NAN,
                          .with_heads = NAN,
                          .chain = NAN,
                          .all = NAN,
                          .requests = NAN,
                          .dense = NAN};
    if (slices != NULL) {
        world.slices = metric(data, slices, "read_amplification");
        world.with_heads = world.slices + heads_bytes(reference) *
                                              metric(data, slices, "ranks_slice_requests") /
                                              metric(data, slices, "ranks_needed_bytes");
        world.chain = metric(data, slices, "chain_amplification");
        world.all = world.with_heads + world.chain;
        world.requests = metric(data, slices, "requests_per_step");
    }
    if (dense != NULL)
        world.dense = metric(data, dense, "read_amplification");
    world.live_slices = live_worst(reference, ranks, live_slices);
    world.live_all = live_worst(reference, ranks, live_all);
    return world;
}

/* "1 MiB", or "1 MiB to 2 MiB": of the arms with a mesh; to three digits, so that what a TGB holds
 * beside its slices does not count. */
static void text_slices(const struct figure_data *data, char text[TEXT_MAX])
{
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    char sizes[2][TEXT_MAX];
    for (size_t i = 0; i < data->arm_count; i++) {
        uint32_t slices = tgb_mesh_slices(data->arms[i].config.mesh);
        uint64_t bytes = slices > 0 ? data->arms[i].config.workload.tgb_bytes / slices : 0;
        least = slices > 0 && bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    text_size(least, sizes[0]);
    text_size(most, sizes[1]);
    if (most == 0)
        snprintf(text, TEXT_MAX, "no size");
    else if (strcmp(sizes[0], sizes[1]) == 0)
        snprintf(text, TEXT_MAX, "%s", sizes[0]);
    else
        snprintf(text, TEXT_MAX, "%.40s to %.40s", sizes[0], sizes[1]);
}

static size_t servers_of(const struct read_reference *reference)
{
    size_t servers = 0;
    for (size_t i = 0; i < reference->count; i++) {
        bool known = false;
        for (size_t k = 0; k < i; k++)
            known = known || strcmp(reference->rows[k].server, reference->rows[i].server) == 0;
        servers += !known;
    }
    return servers;
}

/* ---- the drawing ---- */

static void p6_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    size_t count;
    uint64_t *worlds = worlds_of(page->data, &count);
    struct read_reference *reference = read_kept();
    fprintf(points, "# ranks, slices, slices with HTTP's heads, and manifests, dense read, broker, "
                    "live slices, all that was received live\n");
    for (size_t i = 0; i < count; i++) {
        struct world world = world_of(page->data, reference, worlds[i]);
        fprintf(points, "%llu\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\n",
                (unsigned long long)world.ranks, world.slices, world.with_heads, world.all,
                world.dense, fan_out(world.ranks), world.live_slices, world.live_all);
    }
    char slices[TEXT_MAX];
    text_slices(page->data, slices);
    variable_text(variables, "slices", slices);
    fprintf(variables, "servers = %zu\n", servers_of(reference));
    fprintf(variables, "ranks_min = %llu\nranks_max = %llu\n", (unsigned long long)worlds[0],
            (unsigned long long)worlds[count - 1]);
    fprintf(variables,
            "asked = %.9g\nreported = %.9g\nreported_dense = %.9g\nreported_dense_ranks = %d\n",
            AMPLIFICATION_ASKED, reported_number(page->reported, "P6", "read_amplification"),
            reported_number(page->reported, "P6", "dense_at_128"), DENSE_RANKS);
    free(worlds);
    free(reference);
}

/* ---- the tables ---- */

static void number(double value, int decimals, FILE *markdown)
{
    if (isfinite(value))
        fprintf(markdown, " %.*f |", decimals, value);
    else
        fprintf(markdown, " – |");
}

static void write_world(const struct world *world, FILE *markdown)
{
    fprintf(markdown, "| %llu |", (unsigned long long)world->ranks);
    number(world->slices, 5, markdown);
    number(world->with_heads, 5, markdown);
    number(world->chain, 5, markdown);
    number(world->requests, 2, markdown);
    number(world->dense, 1, markdown);
    number(fan_out(world->ranks), 0, markdown);
    number(world->live_slices, 5, markdown);
    number(world->live_all, 5, markdown);
    fprintf(markdown, "\n");
}

static void write_origins(const struct figure_data *data, FILE *markdown)
{
    char origin[TEXT_MAX];
    fprintf(markdown, "| arm | seeds | config | commit |\n|---|---|---|---|\n");
    for (size_t i = 0; i < data->arm_count; i++) {
        text_origin(&data->arms[i], origin);
        fprintf(markdown, "| %s | %s |\n", data->arms[i].name, origin);
    }
    fprintf(markdown, "\n");
}

static void p6_paper(const struct figure_page *page, FILE *markdown)
{
    size_t count;
    uint64_t *worlds = worlds_of(page->data, &count);
    struct read_reference *reference = read_kept();
    fprintf(markdown, "| ranks | slices | and HTTP's heads | manifests | requests a step | "
                      "dense read | broker | live: slices | live: all received |\n"
                      "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        struct world world = world_of(page->data, reference, worlds[i]);
        write_world(&world, markdown);
    }
    fprintf(markdown,
            "\nBytes over those of the slices that the ranks were given. Slices: a header of %d B "
            "each, read by the same range request; the index is not read. HTTP's heads: %.0f B a "
            "slice, the most that a server below sent, listings included; client and server send "
            "them, the simulator does not. Dense read: no mesh, whole TGBs, through the same "
            "client. Broker: every rank subscribes and is sent every record; arithmetic, its own "
            "framing neglected. Live: the worst of the servers, from `" REFERENCE
            "`; their chain was "
            "complete before the ranks began, so that a listing and a manifest serve many steps, "
            "where the simulated one grows while it is read. %s\n",
            TGB_SLICE_HEADER_BYTES, heads_bytes(reference), reference->notes);
    free(worlds);
    free(reference);
}

static void p6_detail(const struct figure_page *page, FILE *markdown)
{
    write_origins(page->data, markdown);
}

/* The worst over all numbers of ranks. */
struct worst {
    uint64_t ranks_max; /* that were simulated */
    double simulated;   /* with HTTP's heads */
    double chain;
    double live;
    uint64_t live_ranks_max;
};

static struct worst worst_of(const struct figure_page *page)
{
    size_t count;
    struct worst worst = {.simulated = NAN, .chain = NAN, .live = NAN};
    uint64_t *worlds = worlds_of(page->data, &count);
    struct read_reference *reference = read_kept();
    for (size_t i = 0; i < count; i++) {
        struct world world = world_of(page->data, reference, worlds[i]);
        worst.simulated = fmax(worst.simulated, world.with_heads);
        worst.chain = fmax(worst.chain, world.chain);
        worst.live = fmax(worst.live, world.live_all);
        worst.ranks_max = isfinite(world.slices) ? world.ranks : worst.ranks_max;
        worst.live_ranks_max = isfinite(world.live_all) ? world.ranks : worst.live_ranks_max;
    }
    free(worlds);
    free(reference);
    return worst;
}

static void p6_headline(const struct figure_page *page, FILE *text)
{
    struct worst worst = worst_of(page);
    fprintf(
        text,
        "read amplification at most %.5f up to %llu ranks, HTTP's heads included (asked: %.2f); "
        "manifests add %.5f;\nlive, all bytes received: at most %.5f up to %llu ranks\n",
        worst.simulated, (unsigned long long)worst.ranks_max, AMPLIFICATION_ASKED, worst.chain,
        worst.live, (unsigned long long)worst.live_ranks_max);
}

static void p6_summary(const struct figure_page *page, FILE *markdown)
{
    struct worst worst = worst_of(page);
    char slices[TEXT_MAX];
    text_slices(page->data, slices);
    bool holds = worst.simulated <= AMPLIFICATION_ASKED &&
                 !(worst.live > AMPLIFICATION_ASKED); /* a live value may be missing */
    fprintf(markdown, "at most %.4fx up to %llu ranks, manifests add %.4f | ", worst.simulated,
            (unsigned long long)worst.ranks_max, worst.chain);
    if (isfinite(worst.live))
        fprintf(markdown, "at most %.4fx of all bytes received, up to %llu ranks", worst.live,
                (unsigned long long)worst.live_ranks_max);
    else
        fprintf(markdown, "not run");
    fprintf(markdown,
            " | %s: at most %.2f at every scale, with slices of %s; it follows from one range "
            "request a slice | `workload.tgb`, `ranks.checkpoint_every` %llu |\n",
            holds ? "as reported" : "**not as reported**", AMPLIFICATION_ASKED, slices,
            (unsigned long long)page->data->arms[0].config.ranks.checkpoint_every);
}

const struct figure figure_p6 = {
    .name = "p6",
    .title = "Bytes that ranks fetch over bytes that they need, by the number of ranks",
    .plot = p6_plot,
    .paper = p6_paper,
    .detail = p6_detail,
    .headline = p6_headline,
    .reported = "P6",
    .summary = p6_summary,
};
