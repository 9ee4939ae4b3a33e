/* A filter for lsmbench in a shared library. ABI version 1.
 *
 * Define `lsmbench_filter`, compile with `cc -O2 -shared -fPIC`, and name the library in a design:
 * bloom = { kind = "library", library = "./libmyfilter.so", bits_per_key = 10 }
 *
 * Threads: every function may be called by several threads at the same time, on the same filter too. A filter does not
 * change once it is open, so a library without global state needs no lock.
 *
 * Memory: the library owns what it allocates, and lsmbench owns every buffer that it passes. A buffer is valid during
 * the call only, so `open` copies what it needs. lsmbench closes every filter that it opened exactly once.
 */
#ifndef LSMBENCH_FILTER_H
#define LSMBENCH_FILTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSMBENCH_FILTER_ABI 1u

/* What functions return. Any other number is an error that lsmbench reports with the number. */
#define LSMBENCH_OK 0
#define LSMBENCH_DAMAGED 1   /* the bytes are not those of a filter */
#define LSMBENCH_NO_MEMORY 2 /* memory is exhausted */
#define LSMBENCH_NO_SPACE 3  /* the output does not fit its buffer */

typedef struct lsmbench_filter_api {
    /* LSMBENCH_FILTER_ABI. It stays the first member in every version. */
    uint32_t abi;

    /* The name of the stored format: 1 to 32 printable ASCII characters. It is stored with every filter, and a library
     * of another name does not open it. Libraries of the same name must open each other's bytes. */
    const char *name;

    /* The bytes that `build` writes at most for so many keys. `bits_per_key` is 0.001 to 64. */
    size_t (*max_bytes)(size_t keys, double bits_per_key);

    /* Builds a filter from the 64-bit hashes of all keys of a table, in key order; hashes may repeat, and `keys` may
     * be 0. Writes at most `capacity` bytes to `out` and their number to `*written`. The same hashes must give the
     * same bytes on every machine. */
    int32_t (*build)(const uint64_t *hashes, size_t keys, double bits_per_key, uint8_t *out, size_t capacity,
                     size_t *written);

    /* Opens the bytes of a filter and stores its handle in `*filter`. `bytes` has any alignment. The bytes may be
     * damaged: check every number in them before it is used, and that `length` is exactly what they need. */
    int32_t (*open)(const uint8_t *bytes, size_t length, void **filter);

    /* 0 if no key of the table has this hash, another number if one may. A key that was added is never reported
     * absent. */
    int32_t (*may_contain)(const void *filter, uint64_t hash);

    /* The same for `count` hashes: `answers[i]` becomes 0 or 1. A good place to prefetch. */
    void (*may_contain_batch)(const void *filter, const uint64_t *hashes, size_t count, uint8_t *answers);

    /* The false-positive rate that theory gives for this filter, 0 to 1. */
    double (*expected_fpr)(const void *filter);

    /* The bytes of memory that the open filter holds. */
    size_t (*memory_bytes)(const void *filter);

    /* Frees the filter. */
    void (*close)(void *filter);
} lsmbench_filter_api;

/* The one function that the library exports. The table lives as long as the library. */
const lsmbench_filter_api *lsmbench_filter(void);

#ifdef __cplusplus
}
#endif

#endif
