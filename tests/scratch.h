/* scratch.h - folders and files of a test's own, below TMPDIR or /tmp. Failures end the test or the
 * child by assert, so that all of it can be used in forked children. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#define SCRATCH_MAX 128

/* A new folder that every user may enter. */
void scratch_make(char path[SCRATCH_MAX]);
/* Removes it with all that is in it. */
void scratch_remove(const char *path);
/* Files in a folder of it; -1 if there is none. */
int scratch_count(const char *path, const char *folder);

/* A new file that holds the text; the caller's to unlink. */
void scratch_file(char path[SCRATCH_MAX], const char *text);
/* The same where the caller says, whatever was there. */
void scratch_write(const char *path, const char *text);
/* Changes one bit of a file's byte. */
void scratch_flip(const char *path, long at);
/* Makes a file so long: shorter or longer. */
void scratch_cut(const char *path, long size);

#endif
