/* s3_identity.c - the credentials that a store signs with, and their renewal on a worker: ahead of
 * time while requests go on with the old ones, or because a server called them expired, and then
 * requests wait. Ours. */
#include <stdlib.h>
#include <string.h>

#include "backend/s3_private.h"

#define AHEAD_NS (300 * NS_PER_S)    /* credentials are renewed as long before they expire */
#define TRY_AGAIN_NS (30 * NS_PER_S) /* after a renewal ahead of time that brought nothing */

enum open_result s3_identity_open(struct s3_identity *identity, const char *profile,
                                  char error[STORE_ERROR_MAX])
{
    identity->number = 1;
    if (profile != NULL && profile[0] != '\0') {
        identity->profile = strdup(profile);
        assert(identity->profile != NULL);
    }
    return credentials_find(identity->profile, &identity->credentials, error);
}

static struct s3_store *store_of(struct s3_identity *identity)
{
    return (struct s3_store *)((char *)identity - offsetof(struct s3_store, identity));
}

/* On a worker: touches `fresh`, `found` and `error` only. */
static void find(struct work *work)
{
    struct s3_identity *identity = (struct s3_identity *)work;
    identity->found = credentials_find(identity->profile, &identity->fresh, identity->error);
}

static void on_found(struct work *work)
{
    struct s3_identity *identity = (struct s3_identity *)work;
    struct s3_store *store = store_of(identity);
    bool needed = identity->needed;
    identity->renewing = false;
    identity->needed = false;
    if (identity->found == OPEN_OK) {
        credentials_wipe(&identity->credentials);
        identity->credentials = identity->fresh;
        identity->number++;
        store->counters.refreshed++;
    } else if (needed) {
        s3_store_fail_expired(store, identity->error);
    }
    credentials_wipe(&identity->fresh);
    s3_store_pump(store);
}

static void renew(struct s3_store *store)
{
    struct s3_identity *identity = &store->identity;
    identity->renewing = true;
    identity->work.run = find;
    identity->work.done = on_found;
    live_loop_submit(store->loop, &identity->work);
}

void s3_identity_look_ahead(struct s3_store *store, int64_t now_ns)
{
    struct s3_identity *identity = &store->identity;
    int64_t expires_ns = identity->credentials.expires_ns;
    if (expires_ns == TIME_NEVER || now_ns < expires_ns - AHEAD_NS || identity->renewing ||
        now_ns < identity->try_after_ns)
        return;
    identity->try_after_ns = now_ns + TRY_AGAIN_NS;
    renew(store);
}

void s3_identity_need(struct s3_store *store)
{
    store->identity.needed = true;
    if (!store->identity.renewing)
        renew(store);
}

void s3_identity_close(struct s3_store *store)
{
    struct s3_identity *identity = &store->identity;
    if (identity->renewing)
        live_loop_cancel(store->loop, &identity->work);
    credentials_wipe(&identity->credentials);
    credentials_wipe(&identity->fresh);
    sigv4_key_wipe(&identity->key);
    free(identity->profile);
}
