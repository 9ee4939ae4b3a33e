/* An eviction policy for the block cache of lsmbench in a shared library. ABI version 1.
 *
 * The hooks are those of libCacheSim's plugin cache: the plugin decides which object goes, and lsmbench holds the
 * blocks, counts their bytes and asks for a victim until a new block fits.
 *
 * Define `lsmbench_cache`, compile with `cc -O2 -shared -fPIC`, and name the library in a design:
 * cache = { kind = "library", library = "./libmycache.so", capacity = "64MiB" }
 *
 * Threads: a cache has several shards, each with `data` of its own. Calls with the same `data` come one after the
 * other, though from different threads; calls with different `data` come at the same time.
 *
 * Memory: the plugin owns `data` from the init hook to the free hook. A request is valid during the call only.
 *
 * Determinism: the same calls must evict the same objects, so use no clock, no address and no random seed.
 */
#ifndef LSMBENCH_CACHE_H
#define LSMBENCH_CACHE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSMBENCH_CACHE_ABI 1u

/* The object id of a block: a hash of its name. It is the same whenever the block comes again, so a plugin can remember
 * what it evicted. No two blocks that are held in a shard have the same id. */
typedef uint64_t obj_id_t;

typedef struct {
    uint64_t cache_size; /* bytes that the shard may hold; 0 before the capacity is known */
} common_cache_params_t;

typedef struct {
    obj_id_t obj_id;
    uint64_t obj_size; /* bytes, at least 1 and at most the size of the shard */
} request_t;

typedef struct lsmbench_cache_api {
    /* LSMBENCH_CACHE_ABI. It stays the first member in every version. */
    uint32_t abi;

    /* The name of the policy: 1 to 32 printable ASCII characters. */
    const char *name;

    /* Returns the plugin's data of a shard that holds nothing; NULL where memory is exhausted. */
    void *(*cache_init_hook)(const common_cache_params_t params);

    /* The size of the shard is now `cache_size`. May be NULL in the table. */
    void (*cache_resize_hook)(void *data, uint64_t cache_size);

    /* The object is held and was asked for. */
    void (*cache_hit_hook)(void *data, const request_t *req);

    /* The object was not held and is now. As in libCacheSim a miss is an insertion, and room was made before: all
     * victims have been asked for. Objects that do not fit at all are not announced. */
    void (*cache_miss_hook)(void *data, const request_t *req);

    /* Returns the id of an object that is held, and forgets it; it is evicted to make room for `req`, which is NULL
     * where the cache shrinks. At least one object is held. An id that is not held ends the process with an error. */
    obj_id_t (*cache_eviction_hook)(void *data, const request_t *req);

    /* The object is gone for another reason than eviction: its file was deleted. */
    void (*cache_remove_hook)(void *data, const obj_id_t obj_id);

    /* Frees the data. */
    void (*cache_free_hook)(void *data);
} lsmbench_cache_api;

/* The one function that the library exports. The table lives as long as the library. */
const lsmbench_cache_api *lsmbench_cache(void);

#ifdef __cplusplus
}
#endif

#endif
