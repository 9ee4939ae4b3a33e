/* PackBits: a run of equal bytes becomes two bytes. Other bytes are copied, up to 128 at a time after a byte with their
 * number.
 *
 * Source: Apple, "Technical Note TN1023: Understanding PackBits" (1996). */
#include "lsmbench_codec.h"

#include <string.h>

enum { MOST = 128 };

static size_t max_output(size_t length) { return length + length / MOST + 1; }

static size_t run_at(const uint8_t *block, size_t length, size_t at) {
    size_t run = 1;
    while (run < MOST && at + run < length && block[at + run] == block[at]) run++;
    return run;
}

static int32_t compress(const uint8_t *block, size_t length, uint8_t *out, size_t capacity, size_t *written) {
    size_t at = 0, to = 0;
    while (at < length) {
        size_t run = run_at(block, length, at);
        if (run > 2) {
            if (capacity - to < 2) return LSMBENCH_NO_SPACE;
            out[to++] = (uint8_t)(257 - run);
            out[to++] = block[at];
            at += run;
            continue;
        }
        size_t literal = 0;
        while (literal < MOST && at + literal < length && run_at(block, length, at + literal) <= 2) literal++;
        if (capacity - to < literal + 1) return LSMBENCH_NO_SPACE;
        out[to++] = (uint8_t)(literal - 1);
        memcpy(out + to, block + at, literal);
        to += literal;
        at += literal;
    }
    *written = to;
    return LSMBENCH_OK;
}

static int32_t decompress(const uint8_t *stored, size_t length, uint8_t *out, size_t out_length) {
    size_t at = 0, to = 0;
    while (at < length) {
        uint8_t head = stored[at++];
        int is_run = head > MOST;
        size_t count = is_run ? 257u - head : head + 1u, taken = is_run ? 1 : count;
        if (head == MOST || length - at < taken || out_length - to < count) return LSMBENCH_DAMAGED;
        if (is_run)
            memset(out + to, stored[at], count);
        else
            memcpy(out + to, stored + at, count);
        at += taken;
        to += count;
    }
    return to == out_length ? LSMBENCH_OK : LSMBENCH_DAMAGED;
}

static size_t memory_bytes(void) { return 0; }

const lsmbench_codec_api *lsmbench_codec(void) {
    static const lsmbench_codec_api api = {
        .abi = LSMBENCH_CODEC_ABI,
        .name = "packbits",
        .max_output = max_output,
        .compress = compress,
        .decompress = decompress,
        .memory_bytes = memory_bytes,
    };
    return &api;
}
