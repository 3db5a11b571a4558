/** Samplers as programs usually have them, from `Math.random`, which is fast and not secure. */

/**
 * Unary bits, as basic RAPPOR has them: a double is drawn for each bit, and held against one of two probabilities.
 *
 * Settings are k, and p and q: how likely a one is at the value's own bit, and at another.
 */
export function bits({ k, p, q }) {
  return (value) => {
    const report = new Uint8Array((k + 7) >> 3);
    for (let bit = 0; bit < k; bit++) {
      if (Math.random() < (bit === value ? p : q)) report[bit >> 3] |= 1 << (bit & 7);
    }
    return report;
  };
}
