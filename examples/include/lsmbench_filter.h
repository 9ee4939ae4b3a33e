/* A filter for lsmbench in a shared library. ABI version 1.
 *
 * Define `lsmbench_filter`, compile with `cc -O2 -shared -fPIC`, and name the library in a design:
 * bloom = { kind = "library", library = "./libmyfilter.so", bits_per_key = 10 }
 *
 * Threads: several threads may call every function at the same time, also on the same filter. An open filter does not
 * change, so a library without global state needs no lock.
 *
 * Memory: the library owns the memory that it allocates, and lsmbench owns every buffer that it passes. A buffer is
 * valid only during the call, so `open` must copy the bytes that it needs. lsmbench closes every open filter exactly
 * once.
 */
#ifndef LSMBENCH_FILTER_H
#define LSMBENCH_FILTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSMBENCH_FILTER_ABI 1u

/* Return values of functions. lsmbench reports any other number as an error. */
#define LSMBENCH_OK 0
#define LSMBENCH_DAMAGED 1   /* the bytes are not a filter */
#define LSMBENCH_NO_MEMORY 2 /* memory is exhausted */
#define LSMBENCH_NO_SPACE 3  /* the output does not fit into its buffer */

typedef struct lsmbench_filter_api {
    /* LSMBENCH_FILTER_ABI. This member is the first one in every version. */
    uint32_t abi;

    /* The name of the stored format: 1 to 32 printable ASCII characters. The name is stored with every filter. A library
     * with another name does not open the filter. Libraries with the same name must be able to open each other's
     * filters. */
    const char *name;

    /* The maximum number of bytes that `build` writes for `keys` keys. `bits_per_key` is 0.001 to 64. */
    size_t (*max_bytes)(size_t keys, double bits_per_key);

    /* Builds a filter from the 64-bit hashes of all keys of a table, in key order. Hashes may repeat, and `keys` may
     * be 0. Writes at most `capacity` bytes to `out`, and the number of written bytes to `*written`. Equal hashes must
     * give equal bytes on every machine. */
    int32_t (*build)(const uint64_t *hashes, size_t keys, double bits_per_key, uint8_t *out, size_t capacity,
                     size_t *written);

    /* Opens the bytes of a filter, and stores a handle of the filter in `*filter`. `bytes` may have any alignment. The
     * bytes may be corrupt: check every number in them before you use it, and check that `length` is exactly the
     * expected length. */
    int32_t (*open)(const uint8_t *bytes, size_t length, void **filter);

    /* Returns 0 if no key of the table has this hash, and another number if a key may have it. Must never return 0 for
     * the hash of a key that was added. */
    int32_t (*may_contain)(const void *filter, uint64_t hash);

    /* The same for `count` hashes: sets `answers[i]` to 0 or 1. This function can prefetch memory. */
    void (*may_contain_batch)(const void *filter, const uint64_t *hashes, size_t count, uint8_t *answers);

    /* The theoretical false-positive rate of this filter, 0 to 1. */
    double (*expected_fpr)(const void *filter);

    /* The memory of the open filter in bytes. */
    size_t (*memory_bytes)(const void *filter);

    /* Frees the filter. */
    void (*close)(void *filter);
} lsmbench_filter_api;

/* The only function that the library exports. The returned table must stay valid as long as the library is loaded. */
const lsmbench_filter_api *lsmbench_filter(void);

#ifdef __cplusplus
}
#endif

#endif
