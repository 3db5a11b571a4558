/** Projective geometry response: a point, likelier one on the value's hyperplane. */

import { favour, FIT, refuse, threshold, values, whole } from "./spec.js";
import { below, bounded, wide } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./spec.js").Spec} Spec */

const MOST = 2 ** 27; // messages that a server can hold

/** Powers of primes: the Conway polynomial of each, whose coefficients are its digits in base p. */
const CONWAY = new Map([
  [4, 7], [8, 11], [16, 19], [32, 37], [64, 91], [128, 131], [256, 285], [512, 529], [1024, 1135], [9, 17], [27, 34],
  [81, 137], [243, 250], [729, 908], [25, 47], [125, 143], [625, 747], [49, 94], [343, 641], [121, 200], [169, 327],
  [289, 564], [361, 705], [529, 1017], [841, 1539], [961, 1863],
]);

/**
 * What takes a product away from an element of the field of q: of polynomials over its prime p.
 *
 * @param {number} q
 * @returns {(start: number, a: number, b: number) => number}
 */
export function field(q) {
  let p = 2;
  while (p * p <= q && q % p) p++;
  if (p * p > q) p = q;
  const polynomial = CONWAY.get(q) ?? (p === q ? 0 : refuse("q", "be a prime power", q));
  /** a - b x, digit by digit. @param {number} a @param {number} b @param {number} x */
  const less = (a, b, x) => {
    let result = 0;
    for (let unit = 1; unit <= q; unit *= p) result += unit * ((((a / unit) | 0) + (p - x) * ((b / unit) | 0)) % p);
    return result;
  };
  return (start, a, b) => {
    for (; a; a = (a / p) | 0) {
      start = less(start, b, a % p);
      b = less(b * p, polynomial, ((b * p) / q) | 0);
    }
    return start;
  };
}

/** @param {Spec} spec @returns {Law} */
export function projective(spec) {
  const k = values(spec);
  const q = whole(spec, "q", 2, MOST - 1);
  const keep = threshold(spec, "keep");
  const subtract = field(q);
  const starts = [0, 1, q + 1]; // points with fewer digits after their leading one
  let t = 2;
  while (starts[t] < k) starts.push(starts[t++] * q + 1);
  if (starts[t] > MOST) refuse("q", FIT, q);
  const size = wide(starts[t] - 1);
  /** How many digits follow the leading one of a point. @param {number} rank */
  const after = (rank) => starts.findIndex((_, i) => i === t - 1 || starts[i + 1] > rank);
  return {
    k,
    size,
    worst: favour(keep, starts[t - 1], starts[t] - starts[t - 1]),
    draw(value, words) {
      const digits = after(value);
      const hole = t - 1 - digits; // where the value's one stands
      const end = q ** hole;
      let digit = 0;
      let point;
      if (below(words, keep)) point = bounded(words, starts[t - 1]);
      else {
        const drawn = bounded(words, q ** (t - 1)) - end;
        digit = 1 + (drawn % (q - 1));
        point = starts[hole] + (drawn < 0 ? drawn + end : (drawn / (q - 1)) | 0);
        if (drawn < 0) return point;
      }
      const length = after(point);
      if (length >= hole) {
        const rest = point - starts[length];
        const high = (rest / end) | 0;
        let above = high + q ** (length - hole);
        for (let own = q ** (digits - 1); own >= 1; own /= q) {
          digit = subtract(digit, ((value - starts[digits]) / own) % q | 0, above % q);
          above = (above / q) | 0;
        }
        point = starts[length + 1] + (rest % end) + end * (digit + q * high);
      }
      return point;
    },
  };
}
