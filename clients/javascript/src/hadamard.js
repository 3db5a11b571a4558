/** Hadamard response: a column of the value's block, likelier where the value's row is +1. */

import { odd } from "./sketches.js";
import { favour, power, threshold, values } from "./spec.js";
import { below, bounded, get, wide } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./spec.js").Spec} Spec */

/** @param {Spec} spec @returns {Law} */
export function hadamard(spec) {
  const k = values(spec);
  const blocks = power(spec, "blocks", 1, 2 * k);
  const keep = threshold(spec, "keep");
  const width = 2 ** (32 - Math.clz32(Math.ceil(k / blocks)));
  const elsewhere = width * (blocks - 1);
  const size = wide(width * blocks - 1);
  /** @type {Int32Array | undefined} */
  let table;
  /** How many values each output supports: half of a transform of the rows in use, and half of their number. */
  const supported = () => {
    if (table) return table;
    const sums = new Int32Array(width * blocks);
    for (let v = 0; v < k; v++) sums[(v % blocks) * width + ((v / blocks) | 0) + 1] = 1;
    for (let step = 1; step < width; step *= 2) {
      sums.forEach((one, i) => {
        if (i & step) return;
        sums[i] += sums[i + step];
        sums[i + step] = one - sums[i + step];
      });
    }
    return (table = sums.map((sum, i) => (sum + sums[i & -width]) / 2));
  };
  return {
    k,
    size,
    worst: favour(keep, width / 2, elsewhere + width / 2),
    draw(value, words) {
      const start = (value % blocks) * width;
      const row = ((value / blocks) | 0) + 1;
      const lowest = row & -row;
      const wrong = +!below(words, keep);
      let column;
      if (wrong) {
        column = bounded(words, elsewhere + width / 2) - elsewhere;
        if (column < 0) return column + (column + elsewhere < start ? elsewhere : elsewhere + width);
        column += column & -lowest; // makes room for the lowest bit
      } else {
        words.next();
        column = words.hi & (width - 1);
      }
      if (odd(column & row) !== wrong) column ^= lowest;
      return start + column;
    },
    sizes: () => [...new Set(supported())],
    supports: (report) => supported()[get(report, 0, size)],
  };
}
