/* SIEVE: a queue of objects in the order of insertion, and a hand that moves from the oldest object to the newest. The
 * hand spares objects that were used since its last visit, and evicts all others.
 *
 * Source: Zhang et al., "SIEVE is Simpler than LRU" (NSDI 2024), algorithm 1. */
#include "lsmbench_cache.h"

#include <stdlib.h>

typedef struct node {
    obj_id_t id;
    struct node *newer, *older, *chained;
    int visited;
} node;

typedef struct {
    node **buckets;
    size_t bucket_count, count; /* bucket_count is a power of two */
    node *newest, *oldest, *hand;
} sieve;

static node **bucket(sieve *self, obj_id_t id) {
    return &self->buckets[(id * 0x9e3779b97f4a7c15u >> 20) & (self->bucket_count - 1)];
}

static node **find(sieve *self, obj_id_t id) {
    node **link = bucket(self, id);
    while (*link && (*link)->id != id) link = &(*link)->chained;
    return link;
}

static void *allocated(void *memory) {
    if (!memory) abort();
    return memory;
}

static void *init(const common_cache_params_t params) {
    (void)params;
    sieve *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->bucket_count = 64;
    self->buckets = allocated(calloc(self->bucket_count, sizeof(node *)));
    return self;
}

static void grow(sieve *self) {
    free(self->buckets);
    self->bucket_count *= 2;
    self->buckets = allocated(calloc(self->bucket_count, sizeof(node *)));
    for (node *each = self->newest; each; each = each->older) {
        node **first = bucket(self, each->id);
        each->chained = *first;
        *first = each;
    }
}

static void hit(void *data, const request_t *req) {
    node *found = *find(data, req->obj_id);
    if (found) found->visited = 1;
}

static void miss(void *data, const request_t *req) {
    sieve *self = data;
    if (self->count == self->bucket_count) grow(self);
    node *added = allocated(calloc(1, sizeof *added)), **first = bucket(self, req->obj_id);
    *added = (node){.id = req->obj_id, .older = self->newest, .chained = *first};
    *first = added;
    if (self->newest) self->newest->newer = added;
    self->newest = added;
    if (!self->oldest) self->oldest = added;
    self->count++;
}

static void forget(sieve *self, node **link) {
    node *gone = *link;
    *link = gone->chained;
    if (self->hand == gone) self->hand = gone->newer;
    if (gone->newer) gone->newer->older = gone->older;
    if (gone->older) gone->older->newer = gone->newer;
    if (self->newest == gone) self->newest = gone->older;
    if (self->oldest == gone) self->oldest = gone->newer;
    self->count--;
    free(gone);
}

static obj_id_t evict(void *data, const request_t *req) {
    (void)req;
    sieve *self = data;
    node *at = self->hand ? self->hand : self->oldest;
    while (at->visited) {
        at->visited = 0;
        at = at->newer ? at->newer : self->oldest;
    }
    self->hand = at;
    obj_id_t id = at->id;
    forget(self, find(self, id));
    return id;
}

static void remove_object(void *data, const obj_id_t id) {
    node **link = find(data, id);
    if (*link) forget(data, link);
}

static void free_all(void *data) {
    sieve *self = data;
    while (self->newest) {
        node *older = self->newest->older;
        free(self->newest);
        self->newest = older;
    }
    free(self->buckets);
    free(self);
}

const lsmbench_cache_api *lsmbench_cache(void) {
    static const lsmbench_cache_api api = {
        .abi = LSMBENCH_CACHE_ABI,
        .name = "sieve-c",
        .cache_init_hook = init,
        .cache_hit_hook = hit,
        .cache_miss_hook = miss,
        .cache_eviction_hook = evict,
        .cache_remove_hook = remove_object,
        .cache_free_hook = free_all,
    };
    return &api;
}
