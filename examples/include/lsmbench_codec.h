/* A codec of blocks for lsmbench in a shared library. ABI version 1.
 *
 * Define `lsmbench_codec`, compile with `cc -O2 -shared -fPIC`, and name the library in a design:
 * compression = { kind = "library", library = "./libmycodec.so" }
 *
 * Threads: several threads may call every function at the same time.
 *
 * Memory: lsmbench owns every buffer that it passes. A buffer is valid only during the call.
 */
#ifndef LSMBENCH_CODEC_H
#define LSMBENCH_CODEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSMBENCH_CODEC_ABI 1u

/* Return values of functions. Any other number is an error, too. */
#define LSMBENCH_OK 0
#define LSMBENCH_DAMAGED 1   /* the bytes do not decompress to exactly the expected length */
#define LSMBENCH_NO_MEMORY 2 /* memory is exhausted */
#define LSMBENCH_NO_SPACE 3  /* the output does not fit into its buffer */

typedef struct lsmbench_codec_api {
    /* LSMBENCH_CODEC_ABI. This member is the first one in every version. */
    uint32_t abi;

    /* The name of the stored format: 1 to 32 printable ASCII characters. The name is stored with every block. A library
     * with another name does not decompress the block. Libraries with the same name must be able to decompress each
     * other's blocks. */
    const char *name;

    /* The maximum number of bytes that `compress` writes for a block of `length` bytes. */
    size_t (*max_output)(size_t length);

    /* Compresses a block. Writes at most `capacity` bytes to `out`, and the number of written bytes to `*written`. If
     * the function returns an error, or the block does not become smaller, lsmbench stores the block uncompressed. */
    int32_t (*compress)(const uint8_t *block, size_t length, uint8_t *out, size_t capacity, size_t *written);

    /* Decompresses `length` bytes into exactly `out_length` bytes. The input may be corrupt: check every number in it
     * before you use it, and neither read nor write outside of the two buffers. */
    int32_t (*decompress)(const uint8_t *stored, size_t length, uint8_t *out, size_t out_length);

    /* The memory of the library in bytes: permanent memory plus the memory that a call needs, without the buffers. */
    size_t (*memory_bytes)(void);
} lsmbench_codec_api;

/* The only function that the library exports. The returned table must stay valid as long as the library is loaded. */
const lsmbench_codec_api *lsmbench_codec(void);

#ifdef __cplusplus
}
#endif

#endif
