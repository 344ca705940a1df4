/* former_numbers.c - see former_numbers.h. A listing has the lowest numbers first, so it is over
 * with the first key of the own one. Ours. */
#include "experiments/consume/former_numbers.h"

#include <stdio.h>

static void submit(struct former_numbers *former, struct store_op *op)
{
    former->busy = true;
    store_submit(former->store, op);
}

/* The key at the index if it is a former start's; NULL: there is none left on the page. Keys that
 * are none of ours are left alone. */
static const char *find_former(struct former_numbers *former, bool *over)
{
    const struct list_page *page = &former->list.page;
    for (; former->index < page->count; former->index++) {
        struct watermark_name name;
        const char *key = list_page_key(page, former->index);
        if (!name_parse_watermark(key, &name) || name.consumer != former->consumer)
            continue;
        *over = name.number >= former->number;
        return *over ? NULL : key;
    }
    *over = false;
    return NULL;
}

static void go_on(struct former_numbers *former)
{
    bool over = false;
    const char *key = find_former(former, &over);
    former->busy = false;
    if (key != NULL) {
        store_op_prepare(&former->delete, STORE_DELETE);
        snprintf(former->delete.key, sizeof(former->delete.key), "%s", key);
        submit(former, &former->delete);
        return;
    }
    if (!over && store_op_next_page(&former->list) == PAGE_FOLLOWS) {
        store_op_release(&former->list);
        submit(former, &former->list);
        return;
    }
    store_op_deinit(&former->list);
    store_op_deinit(&former->delete);
}

static void on_deleted(struct store_op *op, void *context)
{
    struct former_numbers *former = context;
    former->deleted += op->outcome == STORE_OK;
    store_op_release(op);
    former->index++;
    go_on(former);
}

static void on_listed(struct store_op *op, void *context)
{
    struct former_numbers *former = context;
    former->index = 0;
    if (op->outcome == STORE_OK) {
        go_on(former);
        return;
    }
    former->busy = false;
    store_op_deinit(&former->list);
    store_op_deinit(&former->delete);
}

void former_numbers_delete(struct former_numbers *former, struct store *store, uint32_t consumer,
                           uint64_t number)
{
    assert(number > 0);
    *former = (struct former_numbers){.store = store, .consumer = consumer, .number = number};
    store_op_init(&former->list);
    store_op_init(&former->delete);
    store_op_prepare(&former->list, STORE_LIST);
    name_consumer(former->list.key, consumer);
    former->list.done = on_listed;
    former->list.context = former;
    former->delete.done = on_deleted;
    former->delete.context = former;
    submit(former, &former->list);
}
