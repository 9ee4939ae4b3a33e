/* An eviction policy for the block cache of lsmbench in a shared library. ABI version 1.
 *
 * The hooks are the hooks of libCacheSim's plugin cache. The plugin decides which object is evicted. lsmbench stores the
 * blocks, counts their bytes, and requests victims until a new block fits.
 *
 * Define `lsmbench_cache`, compile with `cc -O2 -shared -fPIC`, and name the library in a design:
 * cache = { kind = "library", library = "./libmycache.so", capacity = "64MiB" }
 *
 * Threads: a cache has several shards, each with its own `data`. Calls with the same `data` never overlap, but may come
 * from different threads. Calls with different `data` may overlap.
 *
 * Memory: the plugin owns `data` from the init hook to the free hook. A request is valid only during the call.
 *
 * Determinism: equal calls must evict equal objects, so the plugin must not depend on clocks, addresses or random
 * seeds.
 */
#ifndef LSMBENCH_CACHE_H
#define LSMBENCH_CACHE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSMBENCH_CACHE_ABI 1u

/* The object id of a block, which is a hash of its name. A block always has the same id, so a plugin can remember
 * evicted blocks. All cached blocks of a shard have different ids. */
typedef uint64_t obj_id_t;

typedef struct {
    uint64_t cache_size; /* capacity of the shard in bytes; 0 before the capacity is known */
} common_cache_params_t;

typedef struct {
    obj_id_t obj_id;
    uint64_t obj_size; /* in bytes, from 1 to the capacity of the shard */
} request_t;

typedef struct lsmbench_cache_api {
    /* LSMBENCH_CACHE_ABI. This member is the first one in every version. */
    uint32_t abi;

    /* The name of the policy: 1 to 32 printable ASCII characters. */
    const char *name;

    /* Returns the plugin's data for an empty shard; NULL if memory is exhausted. */
    void *(*cache_init_hook)(const common_cache_params_t params);

    /* The capacity of the shard is now `cache_size`. This hook may be NULL. */
    void (*cache_resize_hook)(void *data, uint64_t cache_size);

    /* A cached object was requested. */
    void (*cache_hit_hook)(void *data, const request_t *req);

    /* The object was not cached, and is cached now. As in libCacheSim, a miss is an insertion. lsmbench has already
     * requested all victims for the object. This hook is not called for objects that do not fit into the shard. */
    void (*cache_miss_hook)(void *data, const request_t *req);

    /* Returns the id of a cached object, and forgets this object. lsmbench evicts it to make room for `req`, which is
     * NULL if the capacity shrinks. At least one object is cached. If the returned id is not cached, the process ends
     * with an error. */
    obj_id_t (*cache_eviction_hook)(void *data, const request_t *req);

    /* The object is no longer cached, because its file was deleted. */
    void (*cache_remove_hook)(void *data, const obj_id_t obj_id);

    /* Frees `data`. */
    void (*cache_free_hook)(void *data);
} lsmbench_cache_api;

/* The only function that the library exports. The returned table must stay valid as long as the library is loaded. */
const lsmbench_cache_api *lsmbench_cache(void);

#ifdef __cplusplus
}
#endif

#endif
