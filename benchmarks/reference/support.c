/* The hashing server's inner loop in C: for each key x, how many reports have a*x + b mod 2^32 < length.
 *
 * A yardstick for hush.kernels.hashing.support_counts, tiled in the same spirit: sixteen reports stay in registers
 * while a tile of keys streams past them, and the counts of a tile stay in the first-level cache.
 */
#include <stddef.h>
#include <stdint.h>

enum { TILE = 2048, GROUP = 16 };

static void group(const uint32_t *a, const uint32_t *b, const uint32_t *length, const uint32_t *restrict key,
                  uint32_t *restrict count, size_t size)
{
    uint32_t f[GROUP], o[GROUP], l[GROUP];
    for (int j = 0; j < GROUP; j++) {
        f[j] = a[j];
        o[j] = b[j];
        l[j] = length[j];
    }
    for (size_t v = 0; v < size; v++) {
        uint32_t x = key[v], more = 0;
#pragma GCC unroll 16
        for (int j = 0; j < GROUP; j++)
            more += f[j] * x + o[j] < l[j];
        count[v] += more;
    }
}

void support_counts(const uint32_t *a, const uint32_t *b, const uint32_t *length, size_t n, const uint32_t *keys,
                    size_t k, int64_t *tally)
{
    size_t whole = n - n % GROUP;
    for (size_t start = 0; start < k; start += TILE) {
        uint32_t count[TILE] = {0};
        size_t size = k - start < TILE ? k - start : TILE;
        for (size_t i = 0; i < whole; i += GROUP)
            group(a + i, b + i, length + i, keys + start, count, size);
        for (size_t i = whole; i < n; i++)
            for (size_t v = 0; v < size; v++)
                count[v] += a[i] * keys[start + v] + b[i] < length[i];
        for (size_t v = 0; v < size; v++)
            tally[start + v] += count[v];
    }
}
