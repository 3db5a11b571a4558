/**
 * Uniform 64-bit words as two halves of 32 bits each, and exact draws made from them.
 *
 * A source hands out one word at a time: `next()` puts its halves into `hi` and `lo`. Halves are doubles and 32-bit
 * integers to the machine; BigInt would be ten times slower.
 */

const RANGE = 2 ** 32;
const BLOCK = 2 ** 14; // halves: as many bytes as one call gives at most

/** @typedef {{hi: number, lo: number, next(): void}} Words */
/** @typedef {{hi: number, lo: number}} Threshold Out of 2^64; all of it is {hi: 2^32, lo: 0}. */

class Stream {
  hi = 0;
  lo = 0;

  /**
   * @param {Uint32Array<ArrayBuffer>} halves The lower half of a word, then its upper one.
   * @param {number} at
   * @param {(halves: Uint32Array<ArrayBuffer>) => void} refill
   */
  constructor(halves, at, refill) {
    this.halves = halves;
    this.at = at;
    this.refill = refill;
  }

  next() {
    const { halves } = this;
    let { at } = this;
    if (at === halves.length) {
      this.refill(halves);
      at = 0;
    }
    this.lo = halves[at];
    this.hi = halves[at + 1];
    halves[at] = halves[at + 1] = 0; // a word that was used is nobody's to read
    this.at = at + 2;
  }
}

/** Words from the browser's or Node's secure source, fetched in blocks; each is wiped as it is used. */
export const secureWords = () => new Stream(new Uint32Array(BLOCK), BLOCK, (halves) => crypto.getRandomValues(halves));

/**
 * Given words, for tests: the lower half of each, then its upper one.
 *
 * @param {Uint32Array<ArrayBuffer>} halves
 */
export const replayed = (halves) =>
  new Stream(halves.slice(), 0, () => {
    throw new RangeError("words must suffice, got too few; replay more of them");
  });

/**
 * Whether the next word lies below a threshold.
 *
 * @param {Words} words
 * @param {Threshold} threshold
 */
export function below(words, { hi, lo }) {
  words.next();
  return words.hi < hi || (words.hi === hi && words.lo < lo);
}

/**
 * The upper half of the product of two numbers of 32 bits. All steps are exact in doubles.
 *
 * @param {number} a
 * @param {number} b
 */
export const upper = (a, b) => Math.floor((a * (b >>> 16) + Math.floor((a * (b & 65535)) / 65536)) / 65536);

/**
 * Which of `size` things half a word draws, without bias; -1 where it must be thrown away.
 *
 * @param {number} half
 * @param {number} size 1..2^32-1
 */
export function reduced(half, size) {
  const low = Math.imul(half, size) >>> 0;
  return low < size && low < RANGE % size ? -1 : upper(half, size);
}

/**
 * A uniform integer below `size`.
 *
 * @param {Words} words
 * @param {number} size 1..2^32-1
 */
export function bounded(words, size) {
  for (;;) {
    words.next();
    const drawn = reduced(words.hi, size);
    if (drawn >= 0) return drawn;
  }
}

/**
 * Randomized response over 0..size-1.
 *
 * @param {Words} words
 * @param {number} home
 * @param {number} size
 * @param {Threshold} keep
 */
export function respond(words, home, size, keep) {
  if (below(words, keep)) return home;
  const other = bounded(words, size - 1);
  return other < home ? other : other + 1;
}

/** How many bytes a number takes in a record: 1, 2 or 4. @param {number} largest */
export const wide = (largest) => (largest < 256 ? 1 : largest < 65536 ? 2 : 4);

/**
 * Write a number into a record, little-endian.
 *
 * @param {Uint8Array} record
 * @param {number} at
 * @param {number} number Below 2^32.
 * @param {number} width In bytes.
 */
export function put(record, at, number, width) {
  for (const end = at + width; at < end; number >>>= 8) record[at++] = number;
  return record;
}

/** A report, which may be a number of so many bytes. @param {any} made @param {number} size @returns {Uint8Array} */
export const bytes = (made, size) => (typeof made === "number" ? put(new Uint8Array(size), 0, made, size) : made);

/** Read a number from a record. @param {Uint8Array} record @param {number} at @param {number} width */
export function get(record, at, width) {
  let number = 0;
  while (width--) number = number * 256 + record[at + width];
  return number;
}
