/**
 * Bugs of other clients, put into this one from outside, so that audits can be seen to find them. Nothing of it is
 * shipped.
 */

/** @typedef {import("../src/words.js").Words} Words */

/** A spec whose thresholds have their halves changed over, and which declares enough not to be refused. @param {any} spec */
export const swapped = (spec) => ({
  ...spec,
  epsilon: 40,
  thresholds: Object.fromEntries(
    Object.entries(spec.thresholds).map(([name, text]) => {
      const whole = BigInt(text);
      return [name, String(((whole & 0xffffffffn) << 32n) | (whole >> 32n))];
    }),
  ),
});

/**
 * Words of which the second of every report is one of 16 numbers modulo `size`, as if a few bits were reduced that way.
 *
 * @param {Words} words
 * @param {number} size
 */
export function biased(words, size) {
  return watched(words, (at) => {
    if (at === 2) words.hi = Math.floor((((words.hi >>> 28) % size) + 0.5) * (2 ** 32 / size));
  });
}

/** Words of which each second one is the one before it. @param {Words} words */
export function reused(words) {
  let before = { hi: 0, lo: 0 };
  return watched(words, (at) => {
    if (at % 2) before = { hi: words.hi, lo: words.lo };
    else ({ hi: words.hi, lo: words.lo } = before);
  });
}

/** @param {Words} words @param {(at: number) => void} change What happens to the first, second .. word of a report. */
function watched(words, change) {
  let at = 0;
  return {
    hi: 0,
    lo: 0,
    next() {
      words.next();
      change(++at);
      this.hi = words.hi;
      this.lo = words.lo;
    },
    /** A report begins. */
    begin() {
      at = 0;
    },
  };
}
