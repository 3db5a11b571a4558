/**
 * Exact losses: ratios of integers, held against e^x from below.
 *
 * `exponential` of a double is a fixed-point number with 320 bits after the point. Every step of it rounds down: x/2^16, the terms
 * of its series, their sum, and 16 squarings, which double the relative error each time. Fewer than 2^7 steps before
 * them err by 2^-320 each, so it is below e^x by less than one part in 2^296. The thresholds of an honest spec are
 * rounded such that their loss is below epsilon by 10^-58, or 2^-193, of e^epsilon at least: so it is always accepted,
 * and what is accepted never loses more than is declared. No logarithm of doubles is trusted: it only says where to look.
 */

const POINT = 320n;

/** 1, as fixed-point numbers have it. */
export const ONE = 1n << POINT;

/** Out of so many words. */
export const SCALE = 1n << 64n;

/** @typedef {[above: bigint, below: bigint]} Ratio Of probabilities of one report under two values. */

/** A double of at least 2^-247, exactly. @param {number} x */
export const fixed = (x) => BigInt(Math.floor(x * 2 ** 300)) << (POINT - 300n);

/** e^x, from below. @param {number} x From 0 to 100 or so. */
export function exponential(x) {
  const part = fixed(x) >> 16n;
  let sum = ONE;
  for (let term = ONE, n = 1n; term; n++) sum += term = ((term * part) >> POINT) / n;
  for (let i = 0; i < 16; i++) sum = (sum * sum) >> POINT;
  return sum;
}

/** Whether a ratio is at most e^x. @param {Ratio} ratio @param {number} x */
export const within = ([above, below], x) => above * ONE <= exponential(x) * below;

/** The larger of two ratios. @param {Ratio} one @param {Ratio} other */
export const worse = (one, other) => (one[0] * other[1] < other[0] * one[1] ? other : one);

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** The next double, or the one before. @param {number} x @param {bigint} by */
export function beside(x, by) {
  double[0] = x;
  bits[0] += by;
  return double[0];
}

/**
 * The logarithm of a ratio, rounded up to a double; 0 where it is less.
 *
 * @param {Ratio} ratio
 */
export function logarithm(ratio) {
  const [above, below] = ratio;
  if (above <= below) return 0;
  let x = Math.log1p(Number(((above - below) << 256n) / below) / 2 ** 256);
  while (!within(ratio, x)) x = beside(x, 1n);
  for (let less = x; within(ratio, less); less = beside(x, -1n)) x = less;
  return x;
}
