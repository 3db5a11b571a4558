/** What a spec says of a mechanism, taken entry by entry: each is checked, and none may be left over. */

import { HushError, LEAVE } from "./errors.js";
import { ONE, SCALE } from "./numbers.js";

/** @typedef {import("./numbers.js").Ratio} Ratio */
/** @typedef {Map<string, any>} Spec Its entries; those of its thresholds begin with a #. */
/** @typedef {{hi: number, lo: number, all: bigint}} Threshold Out of 2^64, in halves and whole. */

/** The rule that is broken where entries do not belong together. */
export const FIT = "fit the other entries";

/** @param {string} name @param {string} rule @param {any} got @returns {never} */
export function refuse(name, rule, got, remedy = LEAVE) {
  const shown = typeof got === "object" ? "an object" : String(got).slice(0, 40);
  throw new HushError(name.replace("#", ""), rule, shown || "nothing", remedy);
}

/** @param {any} plain @param {string} name @returns {[string, any][]} */
const listed = (plain, name) =>
  typeof plain === "object" && plain && !Array.isArray(plain) ? Object.entries(plain) : refuse(name, "be an object", plain);

/** @param {any} plain The object of a spec that describes a mechanism. @returns {Spec} */
export function entries(plain) {
  const spec = new Map(listed(plain, "mechanism"));
  for (const [name, told] of listed(take(spec, "thresholds"), "thresholds")) spec.set(`#${name}`, told);
  return spec;
}

/** An entry, which is then taken out. @param {Spec} spec @param {string} name */
export function take(spec, name) {
  const found = spec.get(name);
  spec.delete(name);
  return found;
}

/** Refuse what nobody asked for. @param {Spec} spec */
export const done = (spec) => {
  for (const name of spec.keys()) refuse(name, "be known here", name);
};

/** @param {any} found @param {number} least @param {number} most */
export const inside = (found, least, most) => typeof found === "number" && found >= least && found <= most;

/** @param {any} found @param {number} least @param {number} most */
export const integer = (found, least, most) => inside(found, least, most) && Number.isInteger(found);

/**
 * A number within bounds.
 *
 * @param {string} name
 * @param {any} found
 * @param {number} least
 * @param {number} most
 * @param {typeof inside} kind
 * @param {any} shown What may be said of it.
 * @param {string} [remedy]
 * @returns {number}
 */
export const checked = (name, found, least, most, kind, shown = found, remedy) =>
  kind(found, least, most) ? found : refuse(name, `be ${kind === inside ? "a number" : "an integer"} in ${least}..${most}`, shown, remedy);

/** A number within bounds. @param {Spec} spec @param {string} name @param {number} least @param {number} most */
export const number = (spec, name, least, most) => checked(name, take(spec, name), least, most, inside);

/** An integer within bounds. @param {Spec} spec @param {string} name @param {number} least @param {number} most */
export const whole = (spec, name, least, most) => checked(name, take(spec, name), least, most, integer);

/** The number of values: as many as a stranger's spec may have. @param {Spec} spec */
export const values = (spec, most = 10 ** 7) => whole(spec, "k", 2, most);

/** A power of two within bounds. @param {Spec} spec @param {string} name @param {number} least @param {number} most */
export function power(spec, name, least, most) {
  const found = whole(spec, name, least, most);
  return found & (found - 1) ? refuse(name, "be a power of two", found) : found;
}

/** Whether an entry is the first of some words, which also goes without saying. @param {Spec} spec @param {string} name @param {string[]} words */
export function first(spec, name, ...words) {
  const found = take(spec, name) ?? words[0];
  return words.includes(found) ? found === words[0] : refuse(name, `be ${words.join(" or ")}`, found);
}

/**
 * Digits, and nothing else.
 *
 * @param {string} name
 * @param {any} text
 * @param {bigint} least
 * @param {bigint} most
 */
export function digits(name, text, least = 1n, most = SCALE - 1n) {
  const found = typeof text === "string" && /^(0|[1-9]\d{0,19})$/.test(text) ? BigInt(text) : -1n;
  return found >= least && found <= most ? found : refuse(name, `be an integer in ${least}..${most}`, text);
}

/** An integer out of 2^64. @param {bigint} all @returns {Threshold} */
export const halves = (all) => ({ hi: Number(all >> 32n), lo: Number(all & 0xffffffffn), all });

/** Thresholds as integers. @param {Threshold[]} several */
export const alls = (several) => several.map(({ all }) => all);

/** A threshold of the spec. @param {Spec} spec @param {string} name @param {bigint} [least] @param {bigint} [most] */
export const threshold = (spec, name, least, most) => halves(digits(name, take(spec, `#${name}`), least, most));

/** The thresholds of a one, for a bit that is the value's own and for another. @param {Spec} spec */
export function ones(spec, fresh = "") {
  const p = threshold(spec, `p${fresh}`);
  const q = threshold(spec, `q${fresh}`);
  if (p.all <= q.all) refuse(`p${fresh}`, FIT, p.all);
  return [p, q];
}

/**
 * The ratio of weights where one threshold decides between `inside` outputs that favour a value and `outside` others.
 *
 * @param {Threshold} keep
 * @param {number} inside
 * @param {number} outside
 * @param {bigint} [slack] Delta, as a fixed-point number, if there is a single output that favours a value.
 * @returns {Ratio}
 */
export function favour({ all }, inside, outside, slack = 0n) {
  const others = BigInt(outside);
  const own = all * others;
  const other = (SCALE - all) * BigInt(inside);
  if (own < other) refuse("keep", FIT, all);
  return [own * ONE - slack * SCALE * others, other * ONE];
}

/**
 * The ratio of weights where a bit is one with one probability if it is the value's own, with another if not.
 *
 * @param {{all: bigint}[]} ones
 * @param {bigint} [slack]
 * @returns {Ratio}
 */
export const bitwise = ([{ all: p }, { all: q }], slack = 0n, unit = SCALE) => [
  p * (unit - q) * ONE - slack * unit * unit,
  q * (unit - p) * ONE,
];
