/* given_files_test.c - files become TGBs, plain and sliced, and none that changes meanwhile. */
#include "experiments/produce/given_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

#define FILE_BYTES 10000

struct given {
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
};

/* Bytes that compress to about half. */
static void write_file(const char *path, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert(file != NULL);
    for (size_t i = 0; i < bytes; i++)
        fputc((int)(random_mix(i) % 16), file);
    fclose(file);
}

static void given_open(struct given *given)
{
    live_scratch_make(given->scratch);
    live_path(given->path, given->scratch, "file");
    write_file(given->path, FILE_BYTES);
}

/* The slices of a file's TGB, one after the other, are the file. */
static void check_slices(const struct given_files *files, const char *path)
{
    struct tgb_name name = {.sequence = 3, .producer = 1, .epoch = 1};
    char error[GIVEN_FILES_TEXT_MAX] = "";
    struct tgb_layout layout;
    uint32_t slices = tgb_mesh_slices(files->mesh);
    uint8_t *tgb = given_files_tgb(files, 0, &name, error);
    char *given = live_read(path);
    uint64_t at = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(tgb);
    CU_ASSERT_EQUAL_FATAL(tgb_layout_make(files->tgb_bytes[0], slices, &layout), TGB_OK);
    CU_ASSERT_EQUAL(tgb_index_check(tgb, files->mesh, &layout, &name), TGB_OK);
    for (uint32_t i = 0; i < slices; i++) {
        static uint8_t raw[20000];
        struct tgb_place place = {.name = &name, .slices = slices, .slice = i};
        struct tgb_slice slice = {0};
        const uint8_t *stored = NULL;
        const uint8_t *slot = tgb + tgb_layout_offset(&layout, i);
        CU_ASSERT_EQUAL_FATAL(tgb_slice_open(slot, layout.slot_bytes, &place, &slice, &stored),
                              TGB_OK);
        CU_ASSERT_EQUAL_FATAL(tgb_slice_expand(&slice, stored, raw), TGB_OK);
        CU_ASSERT_EQUAL(memcmp(raw, given + at, slice.raw_bytes), 0);
        at += slice.raw_bytes;
    }
    CU_ASSERT_EQUAL(at, files->sizes[0]);
    free(tgb);
    free(given);
}

static void slices_of_files_make_up_the_files(void)
{
    static const struct tgb_mesh meshes[] = {{1, 1}, {3, 1}, {4, 2}, {100, 10}, {60000, 1}};
    struct given given;
    char error[GIVEN_FILES_TEXT_MAX] = "";
    given_open(&given);
    for (size_t i = 0; i < HARNESS_COUNT(meshes); i++)
        for (int level = 0; level <= 3; level += 3) {
            struct given_files files;
            char *paths[] = {given.path};
            CU_ASSERT_TRUE_FATAL(given_files_open(paths, 1, &files, error));
            CU_ASSERT_TRUE_FATAL(given_files_slice(&files, meshes[i], level, error));
            check_slices(&files, paths[0]);
            given_files_close(&files);
        }
    scratch_remove(given.scratch);
}

static void a_file_that_changes_its_size_is_not_read(void)
{
    struct given given;
    struct given_files files;
    char error[GIVEN_FILES_TEXT_MAX] = "";
    given_open(&given);
    for (int grow = 0; grow <= 1; grow++) {
        char *paths[] = {given.path};
        CU_ASSERT_TRUE_FATAL(given_files_open(paths, 1, &files, error));
        uint8_t *data = given_files_tgb(&files, 0, &(struct tgb_name){0}, error);
        CU_ASSERT_PTR_NOT_NULL(data);
        free(data);
        write_file(given.path, grow == 1 ? 2 * FILE_BYTES : 7);
        CU_ASSERT_PTR_NULL(given_files_tgb(&files, 0, &(struct tgb_name){0}, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "changed its size"));
        given_files_close(&files);
    }
    scratch_remove(given.scratch);
}

/* A TGB's size is fixed by a first reading; bytes that compress less do not fit it. */
static void a_file_whose_slices_no_longer_fit_is_not_sent(void)
{
    struct given given;
    struct given_files files;
    char error[GIVEN_FILES_TEXT_MAX] = "";
    char *paths[] = {given.path};
    given_open(&given);
    CU_ASSERT_TRUE_FATAL(given_files_open(paths, 1, &files, error));
    CU_ASSERT_TRUE_FATAL(given_files_slice(&files, (struct tgb_mesh){2, 1}, 3, error));
    FILE *file = fopen(given.path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (uint64_t i = 0; i < files.sizes[0]; i++)
        fputc((int)(random_mix(i) & 255), file);
    fclose(file);
    CU_ASSERT_PTR_NULL(given_files_tgb(&files, 0, &(struct tgb_name){0}, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "changed while"));
    given_files_close(&files);
    scratch_remove(given.scratch);
}

const struct harness_test given_files_tests[] = {
    HARNESS_TEST(slices_of_files_make_up_the_files),
    HARNESS_TEST(a_file_that_changes_its_size_is_not_read),
    HARNESS_TEST(a_file_whose_slices_no_longer_fit_is_not_sent),
    {0},
};
