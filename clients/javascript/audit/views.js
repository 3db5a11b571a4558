/**
 * What a report says of every value, for reports that name a hash function: nobody could read that off their bytes, and
 * anybody can compute it. All other reports are shown as they are.
 */

import { affine, family } from "../src/hashing.js";
import { get, upper } from "../src/words.js";

/** @typedef {(report: Uint8Array) => number[]} View */

/** Whether a bit of a row is one. @param {Uint8Array} bytes @param {number} bit */
const one = (bytes, bit) => (bytes[bit >> 3] >> (bit & 7)) & 1;

/** @param {number} x */
const odd = (x) => x.toString(2).replaceAll("0", "").length % 2;

/** @param {any} spec @returns {View} */
export function viewOf(spec) {
  const name = spec.protocol ?? spec.mechanism;
  if (name === "Memoized") return viewOf(spec.mechanism);
  const values = Array.from({ length: spec.k }, (_, value) => value);
  const g = spec.g ?? 2;
  if (/^u/.test(name)) return utilityView(spec, values);
  if (spec.hash === "family") {
    const home = family(spec.k, g);
    return (y) => values.map((v) => Number(home(get(y, 0, 2), v) === y[2]));
  }
  if (/LH$|LOLOHA$/.test(name)) {
    const hash = affine(spec.k);
    return (y) => values.map((v) => Number(upper(hash(get(y, 0, 4), get(y, 4, 4), v), g) === get(y, 8, y.length - 8)));
  }
  if (name === "Wheel") {
    const hash = affine(spec.k);
    const arc = Number(spec.thresholds.arc);
    return (y) => values.map((v) => Number((get(y, 8, 4) - hash(get(y, 0, 4), get(y, 4, 4), v)) >>> 0 < arc));
  }
  if (name === "CMS" || name === "HCMS") {
    const home = family(spec.k, spec.width);
    const says = name === "CMS" ? (y, bucket) => one(y.subarray(2), bucket) : (y, bucket) => Number(odd(bucket & y[2]) === y[3]);
    return (y) => values.map((v) => says(y, home(get(y, 0, 2), v)));
  }
  if (name === "RAPPOR") {
    const home = family(spec.k, spec.width);
    const member = (cohort, j) => ((cohort * spec.hashes + j) * 40507) % 65535;
    const homes = (y, v) => new Set(Array.from({ length: spec.hashes }, (_, j) => home(member(get(y, 0, 2), j), v)));
    return (y) =>
      values.map((v) => [...homes(y, v)].reduce((sum, bit) => sum + 2 * one(y.subarray(2), bit) - 1, 0)); // for it, or against
  }
  return (y) => [...y];
}

/** The kind, what the base report says, and the value. @param {any} spec @param {number[]} values @returns {View} */
function utilityView(spec, values) {
  const name = { uLH: "LH", uWheel: "Wheel" }[spec.mechanism];
  if (!name) return (y) => [...y];
  const base = viewOf({ ...spec, mechanism: name, k: spec.sensitive?.length ?? values.length });
  return (y) => [y[0], ...base(y.slice(1, -1)), y[y.length - 1]];
}
