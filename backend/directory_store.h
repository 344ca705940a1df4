/* directory_store.h - a store on a directory of a file system, local or shared between machines.
 *
 * Layout: the object "manifest/0001" is the file `manifest+/0001`: a folder's name ends in '+',
 * which no key may hold, so that the objects "a" and "a/b" can both exist. Files that no key could
 * name are ignored. Unfinished writes live in DIRECTORY_TEMP_FOLDER at the root. A folder within a
 * folder goes when its last object is deleted.
 *
 * Method: an object is written to a temporary file, which is synced, and then gets its name in one
 * step: by link(2) for PUT_IF_ABSENT (one winner, whoever races), by rename(2) for PUT. The folder,
 * and those above it, are synced before the answer. With DIRECTORY_SYNC, then:
 *
 *   - An object is visible whole or not at all, at any time, also after kill -9 or power loss.
 *   - OK means durable. For an object made by PUT_IF_ABSENT, EXISTS and a GET's answer mean it
 *     too: while its writer may not have synced the folder yet (the file has two names), they
 *     sync it first.
 *   - FAILED: not applied, and never will be. UNKNOWN: it may have been; the error says why.
 *     Nothing is sent again by the store.
 *   - LIST: every key is judged at some instant during the call; a page is not one instant's
 *     picture. A key that was acknowledged before the call and not deleted is there. Every page
 *     reads the whole folder: about half a microsecond an entry.
 *   - GET: a file that does not fit its bound (core/object_bound.h) is not read: FAILED, damaged.
 *   - DELETE is OK when the key is absent, and durable when it removed something.
 *
 * ext4 and xfs (local): all of that, given a disk that honours flushes. Power loss is not tried by
 * the tests; kill -9 is, at every step and at random.
 *
 * NFS (v3, v4; not tried by the tests): link and rename are atomic on the server. An answer that
 * was lost and asked for again can say EEXIST or ENOENT though the first request was applied: the
 * number of names of the temporary file (2: linked), asked from the server, decides; where it
 * cannot be had the answer is UNKNOWN, which the protocol settles by reading the version. Listings,
 * and the absence of a name, may be stale for as long as attributes are cached (acdirmax, 60 s;
 * lookupcache=none and actimeo=0 turn that off). Stale listings cost lost attempts, not safety: who
 * missed the newest version gets EXISTS and reads on. But the rule "a version counts only if a
 * floor read afterwards is at or below it" needs fresh listings: where something is reclaimed,
 * mount with actimeo=0.
 *
 * Lustre (not tried by the tests): clients are coherent, so as local. No locks are used: flock and
 * localflock do not matter. Links between folders on different metadata targets need Lustre 2.4.
 *
 * File systems without hard links (vfat, exfat, some FUSE and SMB mounts) are refused at open.
 *
 * Nothing here blocks, except open and close: file work runs on the loop's workers. A store belongs
 * to the loop's thread and must not be used after fork. Bodies are BODY_BYTES; other kinds are a
 * programmer's error. */
#ifndef BACKEND_DIRECTORY_STORE_H
#define BACKEND_DIRECTORY_STORE_H

#include "backend/live_loop.h"
#include "backend/result.h"
#include "core/base.h"
#include "core/store.h"

#define DIRECTORY_TEMP_FOLDER ".lakestream-temporary"
/* Temporary files of dead processes are removed at open once they are older than this. */
#define DIRECTORY_TEMP_AGE_NS (600 * NS_PER_S)

enum directory_sync {
    DIRECTORY_SYNC,
    DIRECTORY_NO_SYNC, /* loses what was acknowledged when power fails, and nothing else */
};

enum directory_access {
    DIRECTORY_WRITE, /* makes the directory, and those above it, if missing */
    DIRECTORY_READ,  /* it must exist; nothing in it is changed; PUT, DELETE are FAILED */
};

/* The steps of a write, in their order. */
#define DIRECTORY_STEPS(X)                                                                         \
    X(DIRECTORY_STEP_TEMP_CREATED, "temporary file created")                                       \
    X(DIRECTORY_STEP_HALF_WRITTEN, "half written")                                                 \
    X(DIRECTORY_STEP_WRITTEN, "written")                                                           \
    X(DIRECTORY_STEP_FILE_SYNCED, "file synced")                                                   \
    X(DIRECTORY_STEP_FOLDERS_MADE, "folders made")                                                 \
    X(DIRECTORY_STEP_FOLDERS_SYNCED, "folders above synced")                                       \
    X(DIRECTORY_STEP_NAMED, "linked or renamed")                                                   \
    X(DIRECTORY_STEP_NAME_SYNCED, "folder synced")                                                 \
    X(DIRECTORY_STEP_TEMP_REMOVED, "temporary name removed")

enum directory_step {
#define X(code, text) code,
    DIRECTORY_STEPS(X)
#undef X
    DIRECTORY_STEP_COUNT
};

const char *directory_step_text(enum directory_step step);

/* Zero is the default of every field. */
struct directory_options {
    enum directory_sync sync;
    enum directory_access access;
    int64_t temp_age_ns; /* 0: DIRECTORY_TEMP_AGE_NS; negative: whatever its age */

    /* For tests: called on a worker when a step was done. It may end the process there; an errno
     * that it returns makes the step count as failed, though it was done. NULL: not called. */
    int (*after_step)(void *context, enum directory_step step);
    void *context;
};

/* Opens the store at `path`; `options` may be NULL. Blocks for a few file system calls. The loop is
 * borrowed and must outlive the store. `error` says what, where, and what to do: not a directory,
 * no permission, read-only, full, no hard links, not there (DIRECTORY_READ).
 *
 * store_close may be called with operations in flight: it blocks for those that a worker has begun,
 * drops the others, and `done` is called for none of them. */
MUST_USE enum open_result directory_store_open(const char *path,
                                               const struct directory_options *options,
                                               struct live_loop *loop, struct store **store,
                                               char error[STORE_ERROR_MAX]);

#endif
