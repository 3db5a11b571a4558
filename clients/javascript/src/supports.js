/**
 * What the report of each family speaks for: which answers make it likelier, and by how much.
 *
 * Everything follows from the integers of the spec, as it does for samplers. Public randomness, such as a hash function,
 * is drawn before the answer is looked at, and says nothing of it: what is compared is how likely the rest is.
 */

import { numbering } from "./combinadic.js";
import { affine, family, MEMBERS } from "./hashing.js";
import { SCALE } from "./numbers.js";
import { field } from "./projective.js";
import { odd } from "./sketches.js";
import { get, upper, wide } from "./words.js";

/** @typedef {{bytes: Uint8Array, words: string, idle?: boolean}} Part Some bytes of a report, what they are, and whether they do not depend on the answer. */
/** @typedef {(value: number) => boolean} Support Whether a report speaks for an answer. */

/**
 * What a report says.
 *
 * @typedef {object} Spoken
 * @property {Part[]} parts Its bytes.
 * @property {(value: number) => number} gain The logarithm of how likely the report is with an answer, up to a constant.
 * @property {Support} [supports] Where there are just two levels: whether it is the higher one.
 * @property {number} [favour] The difference of the two.
 * @property {number[]} [telling] Of numbers: some among which the report is the most and the least likely.
 */

/** @typedef {(m: any, report: Uint8Array, told: (value: number) => string) => Spoken} Family */

/** The logarithm of a ratio of integers, also of one near 1. @param {bigint} above @param {bigint} below */
export const log = (above, below) =>
  below === 0n ? Infinity : Math.log1p(Number(above - below) / Number(below));

/** @param {any} m @param {string} name */
export const threshold = (m, name) => BigInt(m.thresholds[name]);

/** How much likelier one of `inside` outputs is than one of `outside`, where a threshold decides between them. @param {bigint} keep @param {number} inside @param {number} outside */
const favoured = (keep, inside, outside) => log(keep * BigInt(outside), (SCALE - keep) * BigInt(inside));

/** How much likelier a one is than a zero if the bit is the answer's own. @param {any} m */
const bitwise = (m) => {
  const [p, q] = [threshold(m, "p"), threshold(m, "q")];
  return log(p * (SCALE - q), q * (SCALE - p));
};

/** @param {Part[]} parts @param {number} favour @param {Support} supports @returns {Spoken} */
const levels = (parts, favour, supports) => ({ parts, favour, supports, gain: (value) => (supports(value) ? favour : 0) });

/** Whether a bit of a row is one. @param {Uint8Array} row @param {number} i */
const bit = (row, i) => Boolean((row[i >> 3] >> (i & 7)) & 1);

/** @param {string[]} names */
const listed = (names) => {
  if (!names.length) return "none of them";
  return names.length > 8 ? `${names.slice(0, 7).join(", ")} and ${names.length - 7} others` : names.join(", ");
};

/** Those of k answers that are supported, in words. @param {number} k @param {Support} supports @param {(value: number) => string} told */
function speaking(k, supports, told) {
  const names = [];
  for (let value = 0; value < k; value++) if (supports(value)) names.push(told(value));
  return listed(names);
}

/** @type {Family} */
export function direct(m, report, told) {
  const sent = get(report, 0, report.length);
  const words = `one answer, ${told(sent)}: the true one, or another one that chance put in its place`;
  return levels([{ bytes: report, words }], favoured(threshold(m, "keep"), 1, m.k - 1), (value) => value === sent);
}

/** @type {Family} */
export function subset(m, report, told) {
  return selected([m.k], [m.omega], [threshold(m, "keep")], m, report, told);
}

/** @type {Family} */
export function residues(m, report, told) {
  /** @param {string} name */
  const each = (name) => String(m.thresholds[name]).split(" ");
  return selected(m.moduli, each("omega").map(Number), each("keep").map(BigInt), m, report, told, wide(m.moduli.length - 1));
}

/**
 * A subset of the residues modulo one of several numbers; or of all answers.
 *
 * @param {number[]} moduli
 * @param {number[]} omegas
 * @param {bigint[]} keeps
 * @param {any} m
 * @param {Uint8Array} report
 * @param {(value: number) => string} told
 */
function selected(moduli, omegas, keeps, m, report, told, head = 0) {
  const width = wide(Math.max(...moduli) - 1);
  let block = get(report, 0, head);
  /** @type {Set<number>} */
  let members;
  if (m.code === "enumerative") [block, members] = numbered(moduli, omegas, report);
  else members = new Set(Array.from({ length: omegas[block] }, (_, i) => get(report, head + width * i, width)));
  const [modulus, omega] = [moduli[block], omegas[block]];
  /** @type {Support} */
  const supports = (value) => members.has(value % modulus);
  const whole = `a set of answers, which likely holds the true one: ${speaking(m.k, supports, told)}`;
  const some = `remainders after division by ${modulus}, which likely hold that of the true answer's number: ${listed([...members].map(String))}`;
  const words = head || moduli.length > 1 ? some : whole;
  const first = { bytes: report.subarray(0, head), idle: true, words: `which divisor it is about, drawn at random: ${modulus}` };
  const parts = head && m.code !== "enumerative" ? [first, { bytes: report.subarray(head), words }] : [{ bytes: report, words }];
  return levels(parts, favoured(keeps[block], omega, modulus - omega), supports);
}

/** A subset from its number, with the divisor that it is about. @param {number[]} moduli @param {number[]} omegas @param {Uint8Array} report @returns {[number, Set<number>]} */
function numbered(moduli, omegas, report) {
  const { term, starts } = numbering(moduli, omegas);
  let left = report.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const block = starts.findIndex((_, j) => j === moduli.length - 1 || left < starts[j + 1]);
  left -= starts[block];
  const members = new Set();
  for (let s = moduli[block] - 1, i = omegas[block]; i > 0 && s >= 0; s--) {
    const reached = term(s, i);
    if (reached > left) continue;
    left -= reached;
    members.add(s);
    i--;
  }
  return [block, members];
}

/** @type {Family} */
export function unary(m, report, told) {
  return rows(m, report, told, bitwise(m));
}

/** @param {any} m @param {Uint8Array} report @param {(value: number) => string} told @param {number} favour */
export function rows(m, report, told, favour) {
  /** @type {Support} */
  const supports = (value) => bit(report, value);
  const words = `a bit for each answer, each turned by chance; it is one for: ${speaking(m.k, supports, told)}`;
  return levels([{ bytes: report, words }], favour, supports);
}

/** @param {Uint8Array} report */
const drawn = (report) => ({ bytes: report.subarray(0, 8), words: "a hash function, drawn at random", idle: true });

/** @param {Uint8Array} report */
const member = (report) => ({
  bytes: report.subarray(0, 2),
  words: `which hash function of a public family, drawn at random: ${get(report, 0, 2)} of ${MEMBERS}`,
  idle: true,
});

/** @type {Family} */
export function hashed(m, report, told) {
  const g = m.g ?? 2;
  return bucketed(m, report, told, g, favoured(threshold(m, "keep"), 1, g - 1));
}

/** @param {any} m @param {Uint8Array} report @param {(value: number) => string} told @param {number} g @param {number} favour */
export function bucketed(m, report, told, g, favour) {
  const own = m.hash !== "family";
  const hash = own ? affine(m.k) : family(m.k, g);
  const [a, b] = [get(report, 0, 4), get(report, 4, 4)];
  const at = own ? 8 : 2;
  const bucket = get(report, at, report.length - at);
  /** @type {Support} */
  const supports = (value) => (own ? upper(hash(a, b, value), g) : hash(get(report, 0, 2), value, 0)) === bucket;
  const words = `one of ${g} buckets, ${bucket}, likely the true answer's own; in it are: ${speaking(m.k, supports, told)}`;
  return levels([own ? drawn(report) : member(report), { bytes: report.subarray(at), words }], favour, supports);
}

/** @type {Family} */
export function wheel(m, report, told) {
  const hash = affine(m.k);
  const arc = Number(m.thresholds.arc);
  const [a, b, point] = [0, 4, 8].map((at) => get(report, at, 4));
  /** @type {Support} */
  const supports = (value) => (point - hash(a, b, value)) >>> 0 < arc;
  const words = `a point of a ring, likely on the true answer's arc; on whose arcs it lies: ${speaking(m.k, supports, told)}`;
  const favour = favoured(threshold(m, "keep"), arc, 2 ** 32 - arc);
  return levels([drawn(report), { bytes: report.subarray(8), words }], favour, supports);
}

/** @type {Family} */
export function hadamard(m, report, told) {
  const { k, blocks } = m;
  const width = 2 ** (32 - Math.clz32(Math.ceil(k / blocks)));
  const column = get(report, 0, report.length);
  /** @type {Support} */
  const supports = (value) =>
    value % blocks === Math.floor(column / width) && !odd(column % width & (Math.floor(value / blocks) + 1));
  const words = `a column of a Hadamard matrix, likely one in which the true answer's row has a plus; so have: ${speaking(k, supports, told)}`;
  return levels([{ bytes: report, words }], favoured(threshold(m, "keep"), width / 2, width * (blocks - 0.5)), supports);
}

/** @type {Family} */
export function projective({ k, q, thresholds }, report, told) {
  const starts = [0, 1]; // how many points have fewer than 0, 1 .. digits after their leading one
  while (starts[starts.length - 1] < k || starts.length < 3) starts.push(starts[starts.length - 1] * q + 1);
  const t = starts.length - 1;
  /** @param {number} rank */
  const after = (rank) => starts.findIndex((_, i) => i === t - 1 || starts[i + 1] > rank);
  /** Digit i of a number in base q. @param {number} number @param {number} i */
  const digit = (number, i) => Math.floor(number / q ** i) % q;
  const subtract = field(q);
  const point = get(report, 0, report.length);
  const length = after(point);
  /** @param {number} i */
  const place = (i) => (i < length ? digit(point - starts[length], i) : Number(i === length));
  /** @type {Support} */
  const supports = (value) => {
    const digits = after(value);
    const hole = t - 1 - digits; // where the value's own one stands
    let product = subtract(0, 1, place(hole));
    for (let i = 1; i <= digits; i++) product = subtract(product, digit(value - starts[digits], digits - i), place(hole + i));
    return product === 0;
  };
  const words = `a point of a projective space, likely on the true answer's hyperplane; on whose it lies: ${speaking(k, supports, told)}`;
  const favour = favoured(BigInt(thresholds.keep), starts[t - 1], starts[t] - starts[t - 1]);
  return levels([{ bytes: report, words }], favour, supports);
}

/** @type {Family} */
export function sketch(m, report, told) {
  const home = family(m.k, m.width);
  const row = report.subarray(2);
  /** @type {Support} */
  const supports = (value) => bit(row, home(get(report, 0, 2), value));
  const words = `a bit for each of ${m.width} buckets, each turned by chance; answers whose bucket's bit is one: ${speaking(m.k, supports, told)}`;
  return levels([member(report), { bytes: row, words }], bitwise(m), supports);
}

/** @type {Family} */
export function coefficient(m, report, told) {
  const home = family(m.k, m.width);
  /** @type {Support} */
  const supports = (value) => odd(home(get(report, 0, 2), value) & report[2]) === report[3];
  const words = `a sign, likely that of the true answer's bucket in that column; so have: ${speaking(m.k, supports, told)}`;
  const column = { bytes: report.subarray(2, 3), idle: true, words: `a column of a Hadamard matrix, drawn at random: ${report[2]}` };
  const favour = favoured(threshold(m, "keep"), 1, 1);
  return levels([member(report), column, { bytes: report.subarray(3), words }], favour, supports);
}

/** @type {Family} */
export function filters(m, report, told) {
  const { k, width, hashes } = m;
  const home = family(k, width);
  const [cohort, row] = [get(report, 0, 2), report.subarray(2)];
  const each = 2 * log(threshold(m, "p"), threshold(m, "q")); // a bit that is one, not zero, and set, not clear
  const parts = [
    { bytes: report.subarray(0, 2), idle: true, words: `which group of hash functions, drawn at random: ${cohort} of ${m.cohorts}` },
    { bytes: row, words: `a Bloom filter of ${width} bits, each turned by chance` },
  ];
  /** How many bits that an answer sets are one, less half of those. @param {number} value */
  const ones = (value) => {
    const set = new Set(Array.from({ length: hashes }, (_, i) => home(((cohort * hashes + i) * 40507) % MEMBERS, value)));
    let sum = -set.size / 2;
    for (const at of set) sum += Number(bit(row, at));
    return sum;
  };
  const fits = speaking(Math.min(k, 2048), (value) => ones(value) > 0, told);
  parts[1].words += `; it fits: ${fits}`;
  return { parts, gain: (value) => each * ones(value) };
}
