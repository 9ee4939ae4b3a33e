/* A codec of blocks for lsmbench in a shared library. ABI version 1.
 *
 * Define `lsmbench_codec`, compile with `cc -O2 -shared -fPIC`, and name the library in a design:
 * compression = { kind = "library", library = "./libmycodec.so" }
 *
 * Threads: every function may be called by several threads at the same time.
 *
 * Memory: lsmbench owns every buffer that it passes. A buffer is valid during the call only.
 */
#ifndef LSMBENCH_CODEC_H
#define LSMBENCH_CODEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSMBENCH_CODEC_ABI 1u

/* What functions return. Any other number is an error, too. */
#define LSMBENCH_OK 0
#define LSMBENCH_DAMAGED 1   /* the bytes do not decompress to exactly the expected length */
#define LSMBENCH_NO_MEMORY 2 /* memory is exhausted */
#define LSMBENCH_NO_SPACE 3  /* the output does not fit its buffer */

typedef struct lsmbench_codec_api {
    /* LSMBENCH_CODEC_ABI. It stays the first member in every version. */
    uint32_t abi;

    /* The name of the stored format: 1 to 32 printable ASCII characters. It is stored with every block, and a library
     * of another name does not decompress it. Libraries of the same name must decompress each other's blocks. */
    const char *name;

    /* The bytes that `compress` writes at most for a block of `length` bytes. */
    size_t (*max_output)(size_t length);

    /* Compresses a block. Writes at most `capacity` bytes to `out` and their number to `*written`. Where it returns an
     * error, or the block would not become smaller, lsmbench stores the block as it is. */
    int32_t (*compress)(const uint8_t *block, size_t length, uint8_t *out, size_t capacity, size_t *written);

    /* Decompresses `length` bytes into exactly `out_length` bytes. The input may be damaged: check every number in it
     * before it is used, and read and write nothing outside of the two buffers. */
    int32_t (*decompress)(const uint8_t *stored, size_t length, uint8_t *out, size_t out_length);

    /* The bytes of memory that the library holds now, and takes during a call, besides the buffers. */
    size_t (*memory_bytes)(void);
} lsmbench_codec_api;

/* The one function that the library exports. The table lives as long as the library. */
const lsmbench_codec_api *lsmbench_codec(void);

#ifdef __cplusplus
}
#endif

#endif
