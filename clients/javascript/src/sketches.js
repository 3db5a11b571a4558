/** Sketches over the public family of hash functions: noisy buckets, noisy coefficients, noisy Bloom filters. */

import { packed, rows, size } from "./bits.js";
import { family, MEMBERS } from "./hashing.js";
import { SCALE } from "./numbers.js";
import { alls, bitwise, favour, FIT, ones, power, refuse, threshold, values, whole } from "./spec.js";
import { below, bounded, put } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./spec.js").Spec} Spec */

/** Whether a number of 32 bits has an odd number of ones. @param {number} x */
export const odd = (x) => {
  for (let by = 16; by; by >>= 1) x ^= x >> by;
  return x & 1;
};

/** @param {Spec} spec @returns {Law} */
export function sketch(spec) {
  const k = values(spec, MEMBERS);
  const width = power(spec, "width", 2, 256);
  const both = ones(spec);
  const bits = rows(width);
  const home = family(k, width);
  return {
    k,
    size: 2 + size(width),
    worst: bitwise(both),
    draw(value, words) {
      const member = bounded(words, MEMBERS);
      return put(packed(bits(words, both, [home(member, value)]), width, 2), 0, member, 2);
    },
  };
}

/** @param {Spec} spec @returns {Law} */
export function coefficient(spec) {
  const k = values(spec, MEMBERS);
  const width = power(spec, "width", 2, 256);
  const keep = threshold(spec, "keep");
  const home = family(k, width);
  return {
    k,
    size: 4,
    worst: favour(keep, 1, 1),
    draw(value, words) {
      const member = bounded(words, MEMBERS);
      words.next();
      const column = words.hi & (width - 1);
      const sign = odd(home(member, value) & column) ^ +!below(words, keep);
      return member + 65536 * (column + 256 * sign);
    },
  };
}

/** @param {Spec} spec @returns {Law} */
export function filters(spec) {
  const k = values(spec, 2048);
  const width = power(spec, "width", 4, 256);
  const hashes = whole(spec, "hashes", 1, 8);
  const cohorts = whole(spec, "cohorts", 1, 1024);
  const both = ones(spec);
  const [p, q] = alls(both);
  if (p + q !== SCALE) refuse("p", FIT, p);
  const bits = rows(width);
  const home = family(k, width);
  /** The bits that a value sets, each once. @param {number} cohort @param {number} value */
  const set = (cohort, value) => {
    /** @type {Set<number>} */
    const found = new Set();
    for (let i = cohort * hashes; i < (cohort + 1) * hashes; i++) found.add(home((i * 40507) % MEMBERS, value));
    return [...found];
  };
  const apart = BigInt(furthest(cohorts, k, Math.min(2 * hashes, width), set));
  return {
    k,
    size: 2 + size(width),
    worst: [p ** apart, q ** apart],
    draw(value, words) {
      const cohort = bounded(words, cohorts);
      return put(packed(bits(words, both, set(cohort, value)), width, 2), 0, cohort, 2);
    },
  };
}

/**
 * In how many bits two values differ at most, over all pairs and cohorts; no more than `most`, where it stops.
 *
 * @param {number} cohorts
 * @param {number} k
 * @param {number} most
 * @param {(cohort: number, value: number) => number[]} set
 */
function furthest(cohorts, k, most, set) {
  let found = 0;
  while (cohorts-- && found < most) {
    const filters = [];
    for (let value = 0; value < k && found < most; value++) {
      const filter = set(cohorts, value);
      filters.push(filter);
      for (const other of filters) {
        const both = filter.filter((bit) => other.includes(bit)).length;
        found = Math.max(found, filter.length + other.length - 2 * both);
      }
    }
  }
  return found;
}
