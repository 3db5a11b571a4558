/** Numbers on a grid, for means: a coin, a window that slides with the number, and a mixture of both. */

import { SCALE, worse } from "./numbers.js";
import { favour, FIT, halves, number, refuse, threshold, whole } from "./spec.js";
import { below, bounded, wide } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./numbers.js").Ratio} Ratio */
/** @typedef {import("./spec.js").Spec} Spec */
/** @typedef {import("./words.js").Words} Words */
/** @typedef {{outputs: number, worst: Ratio, at: (tick: number, words: Words) => number}} Grid What is drawn at a grid point. */

/**
 * A mechanism over numbers, from one over grid points.
 *
 * @param {(spec: Spec, steps: number) => Grid} inner
 * @returns {(spec: Spec) => Law}
 */
export const gridded = (inner) => (spec) => {
  const low = number(spec, "low", -1e100, 1e100);
  const high = number(spec, "high", low, 1e100);
  const steps = whole(spec, "steps", 1, 2 ** 20);
  const range = high - low;
  if (low + range / steps <= low || high - range / steps >= high) refuse("high", FIT, high);
  const { outputs, worst, at } = inner(spec, steps);
  return {
    low,
    high,
    size: wide(outputs - 1),
    worst,
    draw(value, words) {
      const place = Math.min(((value - low) * steps) / range, steps);
      const floor = Math.floor(place);
      const part = Math.min((place - floor) * 2 ** 64, 2 ** 64 - 2 ** 11);
      const up = below(words, { hi: Math.floor(part / 2 ** 32), lo: part % 2 ** 32 });
      return at(floor + +up, words);
    },
  };
};

/** @param {Spec} spec @param {number} steps @returns {Grid} */
export function coin(spec, steps) {
  const base = threshold(spec, "base").all;
  const slope = threshold(spec, "slope").all;
  if (2n * base + slope * BigInt(steps) !== SCALE) refuse("slope", FIT, slope);
  return {
    outputs: 2,
    worst: [SCALE - base, base],
    at: (tick, words) => +below(words, halves(base + slope * BigInt(tick))),
  };
}

/** @param {Spec} spec @param {number} steps @returns {Grid} */
export function sliding(spec, steps) {
  const keep = threshold(spec, "keep");
  const inside = Number(threshold(spec, "inside", 1n, 1n << 31n).all);
  const height = Number(threshold(spec, "height", 1n, (1n << 31n) / BigInt(steps) + 1n).all);
  const outside = height * steps;
  return {
    outputs: inside + outside,
    worst: favour(keep, inside, outside),
    at(tick, words) {
      const start = height * tick;
      if (below(words, keep)) return start + bounded(words, inside);
      const place = bounded(words, outside);
      return place < start ? place : place + inside;
    },
  };
}

/** @param {Spec} spec @param {number} steps @returns {Grid} */
export function either(spec, steps) {
  const choose = threshold(spec, "choose", 0n);
  const one = sliding(spec, steps);
  const other = coin(spec, steps);
  return {
    outputs: one.outputs + 2,
    worst: choose.all ? worse(one.worst, other.worst) : other.worst,
    at: (tick, words) => (below(words, choose) ? one.at(tick, words) : one.outputs + other.at(tick, words)),
  };
}
