/**
 * Mechanisms that protect only the sensitive values: others are disguised as one of them, or revealed.
 *
 * A record is a byte for its kind (0 protected, 1 the value alone, 2 both), a base report, and the value.
 */

import { exponential, ONE, SCALE, worse } from "./numbers.js";
import { digits, first, FIT, integer, refuse, take, threshold, values } from "./spec.js";
import { below, bounded, bytes, put, wide } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./spec.js").Spec} Spec */

/** One sensitive value: all its reports are alike. @type {Law} */
const SINGLE = { size: 1, worst: [1n, 1n], draw: () => new Uint8Array(1), sizes: () => [1], supports: () => 1 };

/**
 * @param {Spec} spec
 * @param {number} epsilon
 * @param {(spec: Spec) => Law} family Of the base mechanism.
 * @returns {Law}
 */
export function utility(spec, epsilon, family) {
  const k = values(spec, 10 ** 6); // more would take seconds to prepare
  /** @type {number[]} */
  const sensitive = take(spec, "sensitive") ?? Array.from({ length: k }, (_, value) => value);
  const good = Array.isArray(sensitive) && sensitive.every((value, i) => integer(value, i && sensitive[i - 1] + 1, k - 1));
  if (!good || !sensitive.length) refuse("sensitive", FIT, sensitive);
  const s = sensitive.length;
  first(spec, "z", "exact", "constant", "none");
  const shown = first(spec, "reveal", "pair", "alone") ? 2 : 1;
  const hide = threshold(spec, "disguise", 1n, SCALE);
  const told = take(spec, "#reveal");
  spec.set("k", s);
  const base = s > 1 ? family(spec) : SINGLE;
  if (s < 2) for (const name of ["k", "omega", "g", "hash", "blocks"]) spec.delete(name);

  const [high, low] = base.worst; // the weights of a base report for a value that it supports, and for another
  const unit = BigInt(s) << 128n;
  const constant = /^[\da-f]{64}$/.test(told) ? undefined : digits("reveal", told, 0n);
  const open = hide.all < SCALE ? 0 : 8; // where all are disguised, a value alone names its hash function, of 8 bytes
  const e = enough(epsilon);
  const possible = base.sizes?.();
  let { worst } = base;
  /** The threshold of a base report that supports 0, 1 .. s of the sensitive values. */
  const table = Array.from({ length: s + 1 }, (_, size) => {
    const most = (size ? high : low) * unit;
    const least = (size < s ? low : high) * unit;
    const mass = hide.all * (BigInt(size) * high + BigInt(s - size) * low);
    const free = SCALE - (most * DIGITS + mass * e - 1n) / (mass * e);
    const z = constant ?? (free >> 20n > 0n ? free : 0n);
    const other = mass * (SCALE - z);
    if (s < k && (possible?.includes(size) ?? true)) {
      worst = worse(worst, [most > other ? most : other, least < other ? least : other]);
    }
    return z;
  });
  const width = wide(k - 1);
  const size = 1 + base.size + width;
  return {
    k,
    size,
    worst,
    unprotected: k - s,
    proof: constant === undefined ? [table.join(), told] : undefined,
    draw(value, words) {
      const made = new Uint8Array(size);
      let number = sensitive.indexOf(value);
      let luck = SCALE;
      if (number < 0) {
        number = below(words, hide) ? bounded(words, s) : -1;
        if (number >= 0) words.next();
        luck = (BigInt(words.hi) << 32n) | BigInt(words.lo);
      }
      if (number >= 0) {
        const report = bytes(base.draw(number, words), base.size);
        const kind = luck < table[/** @type {any} */ (base).supports(report)] ? shown : 0;
        made.set(kind === 1 ? report.subarray(0, open) : report, 1);
        if (!kind) return made;
        made[0] = kind;
      } else made[0] = 1;
      return put(made, size - width, value, width);
    },
  };
}

const DIGITS = 10n ** 128n;

/** e^epsilon to sixty digits, less one part in 10^58, times 10^128. @param {number} epsilon */
function enough(epsilon) {
  const found = (exponential(epsilon) * 10n ** 70n) / ONE;
  const unit = 10n ** BigInt(String(found).length - 60);
  return ((found + unit / 2n) / unit) * unit * (10n ** 58n - 1n);
}
