/* A blocked Bloom filter: all bits of a key lie in one block of 512 bits, which is one cache line.
 *
 * Source: Putze, Sanders and Singler, "Cache-, hash- and space-efficient Bloom filters" (2007).
 *
 * Stored form, little-endian: probes u32, zero u32, keys u64, blocks u64, then 64 bytes for each block. */
#include "lsmbench_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BITS = 512, BLOCK_BYTES = 64, HEAD_BYTES = 24, MAX_PROBES = 32, AHEAD = 16 };

typedef struct {
    uint64_t *words;
    uint64_t keys, blocks;
    uint32_t probes;
} filter;

static uint64_t block_of(uint64_t hash, uint64_t blocks) {
    return (uint64_t)(((unsigned __int128)hash * blocks) >> 64);
}

/* The position of the next bit of a key in its block. */
static unsigned next_bit(uint64_t *state) {
    *state = (*state ^ (*state >> 32)) * 0x9e3779b97f4a7c15u;
    return (unsigned)(*state >> 55);
}

static uint64_t blocks_for(size_t keys, double bits_per_key) {
    uint64_t blocks = (uint64_t)ceil(bits_per_key * (double)keys / BLOCK_BITS);
    return blocks ? blocks : 1;
}

static size_t max_bytes(size_t keys, double bits_per_key) {
    return HEAD_BYTES + blocks_for(keys, bits_per_key) * BLOCK_BYTES;
}

static void put(uint8_t *out, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) out[i] = (uint8_t)(number >> (8 * i));
}

static uint64_t get(const uint8_t *in, int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++) number |= (uint64_t)in[i] << (8 * i);
    return number;
}

static int32_t build(const uint64_t *hashes, size_t keys, double bits_per_key, uint8_t *out, size_t capacity,
                     size_t *written) {
    size_t needed = max_bytes(keys, bits_per_key);
    if (capacity < needed) return LSMBENCH_NO_SPACE;
    double best = round(bits_per_key * 0.6931471805599453);
    uint32_t probes = best < 1 ? 1 : best > MAX_PROBES ? MAX_PROBES : (uint32_t)best;
    uint64_t blocks = blocks_for(keys, bits_per_key);
    memset(out, 0, needed);
    put(out, probes, 4);
    put(out + 8, keys, 8);
    put(out + 16, blocks, 8);
    for (size_t key = 0; key < keys; key++) {
        uint8_t *block = out + HEAD_BYTES + block_of(hashes[key], blocks) * BLOCK_BYTES;
        uint64_t state = hashes[key];
        for (uint32_t probe = 0; probe < probes; probe++) {
            unsigned bit = next_bit(&state);
            block[bit / 8] |= (uint8_t)(1u << (bit % 8));
        }
    }
    *written = needed;
    return LSMBENCH_OK;
}

static int32_t open_filter(const uint8_t *bytes, size_t length, void **opened) {
    if (length < HEAD_BYTES) return LSMBENCH_DAMAGED;
    uint64_t probes = get(bytes, 4), zero = get(bytes + 4, 4), blocks = get(bytes + 16, 8);
    if (probes < 1 || probes > MAX_PROBES || zero != 0 || blocks < 1) return LSMBENCH_DAMAGED;
    if (blocks > SIZE_MAX / BLOCK_BYTES || length - HEAD_BYTES != blocks * BLOCK_BYTES) return LSMBENCH_DAMAGED;
    filter *self = malloc(sizeof *self);
    uint64_t *words = aligned_alloc(BLOCK_BYTES, blocks * BLOCK_BYTES);
    if (!self || !words) {
        free(self);
        free(words);
        return LSMBENCH_NO_MEMORY;
    }
    for (uint64_t word = 0; word < blocks * 8; word++) words[word] = get(bytes + HEAD_BYTES + word * 8, 8);
    *self = (filter){.words = words, .keys = get(bytes + 8, 8), .blocks = blocks, .probes = (uint32_t)probes};
    *opened = self;
    return LSMBENCH_OK;
}

static int32_t may_contain(const void *opened, uint64_t hash) {
    const filter *self = opened;
    const uint64_t *block = self->words + block_of(hash, self->blocks) * 8;
    uint64_t state = hash;
    for (uint32_t probe = 0; probe < self->probes; probe++) {
        unsigned bit = next_bit(&state);
        if (!(block[bit / 64] >> (bit % 64) & 1)) return 0;
    }
    return 1;
}

static void may_contain_batch(const void *opened, const uint64_t *hashes, size_t count, uint8_t *answers) {
    const filter *self = opened;
    for (size_t i = 0; i < count; i++) {
        if (i % AHEAD == 0)
            for (size_t ahead = i; ahead < count && ahead < i + AHEAD; ahead++)
                __builtin_prefetch(self->words + block_of(hashes[ahead], self->blocks) * 8);
        answers[i] = (uint8_t)may_contain(opened, hashes[i]);
    }
}

/* The false-positive rate of one block with `load` keys: the mean of fill^k to second order. */
static double rate_of_block(double load, double k) {
    double m = BLOCK_BITS, balls = load * k;
    double empty = pow(1 - 1 / m, balls), both_empty = pow(1 - 2 / m, balls);
    double fill = 1 - empty;
    double variance = empty / m + (1 - 1 / m) * both_empty - empty * empty;
    return fill > 0 ? pow(fill, k) * (1 + k * (k - 1) / 2 * variance / (fill * fill)) : 0;
}

/* The mean rate over the load of a block, which has a binomial distribution. */
static double expected_fpr(const void *opened) {
    const filter *self = opened;
    double n = (double)self->keys, p = 1 / (double)self->blocks, k = self->probes;
    if (self->keys == 0) return 0;
    if (self->blocks == 1) return fmin(rate_of_block(n, k), 1);
    /* With this many keys, all bits of a block are set. This also limits the loop if the bytes are corrupt. */
    if (n * p > 1e5) return 1;
    double spread = 12 * sqrt(n * p * (1 - p)) + 12, rate = 0;
    double first = fmax(0, floor(n * p - spread)), last = fmin(n, ceil(n * p + spread));
    for (double load = first; load <= last; load++) {
        double ways = lgamma(n + 1) - lgamma(load + 1) - lgamma(n - load + 1);
        rate += exp(ways + load * log(p) + (n - load) * log1p(-p)) * fmin(rate_of_block(load, k), 1);
    }
    return fmin(rate, 1);
}

static size_t memory_bytes(const void *opened) { return ((const filter *)opened)->blocks * BLOCK_BYTES; }

static void close_filter(void *opened) {
    filter *self = opened;
    free(self->words);
    free(self);
}

const lsmbench_filter_api *lsmbench_filter(void) {
    static const lsmbench_filter_api api = {
        .abi = LSMBENCH_FILTER_ABI,
        .name = "blocked-c",
        .max_bytes = max_bytes,
        .build = build,
        .open = open_filter,
        .may_contain = may_contain,
        .may_contain_batch = may_contain_batch,
        .expected_fpr = expected_fpr,
        .memory_bytes = memory_bytes,
        .close = close_filter,
    };
    return &api;
}
