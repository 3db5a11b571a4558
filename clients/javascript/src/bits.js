/** Rows of bits, each one or zero by chance: 64 at a time, by comparing as many uniform numbers with a threshold. */

import { bitwise, ones, values } from "./spec.js";
import { below } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./spec.js").Spec} Spec */
/** @typedef {import("./words.js").Words} Words */
/** @typedef {import("./words.js").Threshold} Threshold */

/**
 * Bits that are one with a threshold's probability, at the positions that are open; zero elsewhere.
 *
 * Each word holds one binary digit of 64 numbers, the highest first. A number whose digit differs from the threshold's
 * is decided.
 *
 * @param {Words} words
 * @param {Threshold} threshold
 * @param {number} low Positions 0..31 that are open.
 * @param {number} high Positions 32..63.
 * @param {Int32Array} row Where the bits are added.
 * @param {number} at
 */
function sliced(words, threshold, low, high, row, at) {
  let left = threshold.hi | 0;
  for (let level = 1; (low | high) !== 0 && level <= 64; level++) {
    words.next();
    const { hi, lo } = words;
    const digit = left >> 31; // all ones, or all zeros
    row[at] |= low & ~lo & digit;
    row[at + 1] |= high & ~hi & digit;
    low &= lo ^ ~digit;
    high &= hi ^ ~digit;
    left = level === 32 ? threshold.lo : left << 1;
  }
}

/** Bytes of k bits. @param {number} k */
export const size = (k) => (k + 7) >> 3;

/** A row of k bits as bytes, after some others. @param {Int32Array} row @param {number} k */
export function packed(row, k, head = 0) {
  const made = new Uint8Array(head + size(k));
  for (let i = head; i < made.length; i++) made[i] = row[(i - head) >> 2] >> (8 * (i - head));
  return made;
}

/**
 * What draws rows of k bits. Every bit is one by the threshold q; but those that are the value's own by p, and those that
 * were one in a row that was kept.
 *
 * @param {number} k
 * @returns {(words: Words, ones: Threshold[], own: number[], kept?: Int32Array) => Int32Array}
 */
export function rows(k) {
  const row = new Int32Array(2 * Math.ceil(k / 64));
  /** All 32 positions that the row has in some word. @param {number} i */
  const every = (i) => (k - 32 * i >= 32 ? -1 : k > 32 * i ? (1 << k) - 1 : 0);
  return (words, [p, q], own, kept) => {
    row.fill(0);
    for (let i = 0; i < row.length; i += 2) {
      const low = kept ? kept[i] : 0;
      const high = kept ? kept[i + 1] : 0;
      sliced(words, p, low, high, row, i);
      sliced(words, q, every(i) & ~low, every(i + 1) & ~high, row, i);
    }
    for (const bit of own) {
      row[bit >> 5] &= ~(1 << bit);
      if (below(words, p)) row[bit >> 5] |= 1 << bit;
    }
    return row;
  };
}

/** @param {Spec} spec @param {bigint} [slack] @returns {Law} */
export function unary(spec, slack) {
  const k = values(spec);
  const both = ones(spec);
  const bits = rows(k);
  return {
    k,
    size: size(k),
    worst: bitwise(both, slack),
    draw: (value, words) => packed(bits(words, both, [value]), k),
    supports(report) {
      let count = 0;
      for (let byte of report) for (; byte; byte &= byte - 1) count++;
      return count;
    },
  };
}
