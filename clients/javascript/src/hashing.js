/** Local hashing and the wheel: a hash function goes out, and a bucket or a point of a ring, randomized. */

import { favour, first, power, threshold, values, whole } from "./spec.js";
import { below, bounded, get, put, respond, upper, wide } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./spec.js").Spec} Spec */

const RING = 2 ** 32;

/** How many functions the public family has. */
export const MEMBERS = 65535;

/** The number of buckets: so many that two values still collide at the ideal rate. @param {Spec} spec @param {number} k */
export const buckets = (spec, k) => whole(spec, "g", 2, Math.max(2, (2 ** 26 / k) | 0));

/**
 * The hash of each value under a function of its own, (a, b): affine, of a fixed pseudo-random key.
 *
 * @param {number} k
 * @returns {(a: number, b: number, value: number) => number}
 */
export function affine(k) {
  const keys = new Uint32Array(k).map((_, x) => {
    for (const [factor, offset] of [
      [0x9e3779b1, 0x7f4a7c15],
      [0x85ebca6b, 0x165667b1],
      [0xc2b2ae35, 0x27d4eb2f],
    ]) {
      x = Math.imul(x, factor) + offset;
      x += Math.imul(x, x) | 5;
    }
    return x;
  });
  return (a, b, value) => (Math.imul(a, keys[value]) + b) >>> 0;
}

/**
 * The bucket of each value under each member of the public family.
 *
 * @param {number} k
 * @param {number} g
 * @returns {(member: number, value: number) => number}
 */
export function family(k, g) {
  const homes = new Uint8Array(2 * MEMBERS);
  for (let i = 0, element = 1; i < MEMBERS; i++) {
    homes[i] = homes[i + MEMBERS] = element >> (Math.clz32(g) - 15);
    element = (element << 1) ^ (element > 32767 ? 0x1100b : 0);
  }
  /** @param {number} x */
  const scrambled = (x) => {
    for (const [factor, shift] of [
      [0x9e37, 7],
      [0x85eb, 9],
      [0xc2b3, 8],
    ]) {
      x = (x * factor + 0x7c15) & 65535;
      x ^= x >> shift;
    }
    return x;
  };
  const last = scrambled(MEMBERS) ^ MEMBERS;
  const places = new Uint16Array(k).map((_, value) => scrambled(value) ^ last);
  return (member, value) => homes[member + places[value]];
}

/** How many of k values are supported. @param {number} k @param {(value: number) => boolean} supported */
function count(k, supported) {
  let found = 0;
  while (k--) if (supported(k)) found++;
  return found;
}

/**
 * A record: a function, and a number of so many bytes.
 *
 * @param {number} a
 * @param {number} b
 * @param {number} number
 * @param {number} width
 */
export function dressed(a, b, number, width) {
  const made = new Uint8Array(8 + width);
  put(made, 0, a, 4);
  put(made, 4, b, 4);
  return put(made, 8, number, width);
}

/**
 * @param {Spec} spec
 * @param {bigint} [slack]
 * @param {number} [fixed] How many buckets, where the spec leaves it unsaid.
 * @returns {Law}
 */
export function hashed(spec, slack, fixed) {
  const own = first(spec, "hash", "affine", "family");
  const k = values(spec, own ? undefined : MEMBERS);
  const g = fixed ?? (own ? buckets(spec, k) : power(spec, "g", 2, 256));
  const keep = threshold(spec, "keep");
  const law = { k, worst: favour(keep, 1, g - 1, slack) };
  if (own) {
    const hash = affine(k);
    const width = wide(g - 1);
    return {
      ...law,
      size: 8 + width,
      draw(value, words) {
        words.next();
        const { lo, hi } = words;
        return dressed(lo, hi, respond(words, upper(hash(lo, hi, value), g), g, keep), width);
      },
      supports: (y) => count(k, (v) => upper(hash(get(y, 0, 4), get(y, 4, 4), v), g) === get(y, 8, width)),
    };
  }
  const home = family(k, g);
  return {
    ...law,
    size: 3,
    draw(value, words) {
      const member = bounded(words, MEMBERS);
      return member + 65536 * respond(words, home(member, value), g, keep);
    },
    supports: (y) => count(k, (v) => home(get(y, 0, 2), v) === y[2]),
  };
}

/** @param {Spec} spec @returns {Law} */
export function wheel(spec) {
  const k = values(spec);
  const keep = threshold(spec, "keep");
  const arc = Number(threshold(spec, "arc", 1n, BigInt(RING - 1)).all);
  const hash = affine(k);
  return {
    k,
    size: 12,
    worst: favour(keep, arc, RING - arc),
    draw(value, words) {
      words.next();
      const { lo, hi } = words;
      const offset = below(words, keep) ? bounded(words, arc) : arc + bounded(words, RING - arc);
      return dressed(lo, hi, hash(lo, hi, value) + offset, 4);
    },
    supports: (y) => count(k, (v) => (get(y, 8, 4) - hash(get(y, 0, 4), get(y, 4, 4), v)) >>> 0 < arc),
  };
}
