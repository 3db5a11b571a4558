/** Subset selection, of values and of residues: a random subset that likely holds the true one. */

import { numbering } from "./combinadic.js";
import { worse } from "./numbers.js";
import { digits, favour, first, FIT, halves, integer, refuse, take, threshold, values, whole } from "./spec.js";
import { below, bounded, put, reduced, wide } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./spec.js").Spec} Spec */
/** @typedef {import("./spec.js").Threshold} Threshold */
/** @typedef {import("./words.js").Words} Words */

const MOST_NUMBERED = 2 ** 18; // values: numbers of subsets of more take long to prepare

/** @param {Spec} spec @returns {Law} */
export function subset(spec) {
  const sorted = first(spec, "code", "sorted", "enumerative");
  const k = values(spec, sorted ? undefined : MOST_NUMBERED);
  const omega = whole(spec, "omega", 1, k - 1);
  return selection(k, sorted, [k], [omega], [threshold(spec, "keep")]);
}

/** @param {Spec} spec @returns {Law} */
export function residues(spec) {
  const sorted = first(spec, "code", "sorted", "enumerative");
  const k = values(spec, sorted ? undefined : MOST_NUMBERED);
  /** @type {number[]} */
  const moduli = take(spec, "moduli");
  const good = Array.isArray(moduli) && integer(moduli.length, 1, 65536) && moduli.every((m) => integer(m, 2, k));
  if (!good || (!sorted && moduli.length * k > MOST_NUMBERED * 32)) refuse("moduli", FIT, moduli);
  /** @param {string} name @param {(m: number) => bigint} [most] */
  const each = (name, most) => {
    const parts = String(take(spec, `#${name}`)).split(" ");
    if (parts.length !== moduli.length) refuse(name, FIT, parts.length);
    return parts.map((part, j) => digits(name, part, 1n, most?.(moduli[j])));
  };
  const omegas = each("omega", (m) => BigInt(m - 1)).map(Number);
  return selection(k, sorted, moduli, omegas, each("keep").map(halves), wide(moduli.length - 1));
}

/**
 * Subsets of residues modulo one of several numbers, or of one.
 *
 * @param {number} k
 * @param {boolean} sorted Whether members are written one by one; else as one number.
 * @param {number[]} moduli
 * @param {number[]} omegas
 * @param {Threshold[]} keeps
 * @param {number} head Bytes that say which number it was.
 * @returns {Law}
 */
function selection(k, sorted, moduli, omegas, keeps, head = 0) {
  const most = Math.max(...moduli);
  const width = wide(most - 1);
  const numbers = sorted ? undefined : numbering(moduli, omegas);
  const size = numbers?.size ?? head + width * Math.max(...omegas);
  const bitmap = new Int32Array((most + 31) >> 5);
  return {
    k,
    size,
    worst: keeps.map((keep, j) => favour(keep, omegas[j], moduli[j] - omegas[j])).reduce(worse),
    draw(value, words) {
      const j = moduli.length > 1 ? bounded(words, moduli.length) : 0;
      const m = moduli[j];
      const others = m - 1;
      value %= m;
      const included = below(words, keeps[j]);
      const wanted = omegas[j] - +included;
      const inverted = 2 * wanted > others; // then those that are left out are drawn
      bitmap.fill(0);
      for (let missing = inverted ? others - wanted : wanted; missing > 0; ) {
        words.next();
        for (let half = words.hi, turn = 0; turn < 2 && missing > 0; half = words.lo, turn++) {
          let drawn = reduced(half, others);
          if (drawn < 0) continue;
          if (drawn >= value) drawn++;
          const before = bitmap[drawn >> 5];
          if (before !== (bitmap[drawn >> 5] |= 1 << drawn)) missing--;
        }
      }
      /** @type {number[]} */
      const members = [];
      for (let start = 0; start < m; start += 32) {
        let held = inverted ? ~bitmap[start >> 5] : bitmap[start >> 5];
        if (start === (value & -32)) held = (held & ~(1 << value)) | (+included << value);
        if (m - start < 32) held &= (1 << (m - start)) - 1;
        for (; held; held &= held - 1) members.push(start + 31 - Math.clz32(held & -held));
      }
      if (numbers) return numbers.code(j, members);
      const made = put(new Uint8Array(size), 0, j, head);
      members.forEach((member, i) => put(made, head + width * i, member, width));
      return made;
    },
    sizes: () => omegas,
    supports: () => omegas[0],
  };
}
