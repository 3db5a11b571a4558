/**
 * A value that is asked for again and again: a permanent answer for each state that a person comes into, kept, and
 * fresh noise on every report.
 *
 * What must be kept is a plain object: what was drawn once (`once`), and the answers by state (`answers`).
 */

import { packed, rows, size } from "./bits.js";
import { affine, buckets, dressed } from "./hashing.js";
import { beside, logarithm, SCALE, worse } from "./numbers.js";
import { alls, bitwise, favour, ones, threshold, values } from "./spec.js";
import { bytes, respond, upper, wide } from "./words.js";

/** @typedef {import("./mechanisms.js").Law} Law */
/** @typedef {import("./spec.js").Spec} Spec */
/** @typedef {import("./words.js").Words} Words */
/** @typedef {{once?: number[], answers: Record<number, any>}} Memory */

/**
 * The answer for a state, drawn if there is none yet, and a report of it, beside all that is to be kept before the
 * report leaves the device.
 *
 * @param {Memory | undefined} memory
 * @param {number} state
 * @param {() => any} answer
 * @param {(answer: any) => Uint8Array} report
 * @param {number[]} [once]
 */
export function remembered(memory, state, answer, report, once) {
  const answers = { ...memory?.answers };
  answers[state] ??= answer();
  return { report: report(answers[state]), memory: { once, answers } };
}

/**
 * Randomized response twice, over the values, or over the buckets of a hash function.
 *
 * @param {Spec} spec
 * @param {boolean} hashed
 * @param {number} [fixed] How many buckets, where the spec leaves it unsaid.
 * @returns {Law}
 */
export function responses(spec, hashed, fixed) {
  const k = values(spec);
  const g = hashed ? (fixed ?? buckets(spec, k)) : k;
  const keep = threshold(spec, "permanent");
  const again = threshold(spec, "fresh");
  const others = BigInt(g - 1);
  const [stay, lost] = [keep.all, SCALE - keep.all];
  const [fresh, turn] = [again.all, SCALE - again.all];
  const width = wide(g - 1);
  const hash = hashed ? affine(k) : undefined;
  return {
    k,
    size: width + (hash ? 8 : 0),
    worst: [
      others * (others * stay * fresh + lost * turn),
      others * (stay * turn + lost * fresh) + (others - 1n) * lost * turn,
    ],
    always: favour(keep, 1, g - 1),
    fresh: logarithm(favour(again, 1, g - 1)),
    kept: hash && k > 2 ? undefined : k,
    draw(value, words, memory) {
      let once = memory?.once;
      if (hash && !once) {
        words.next();
        once = [words.lo, words.hi];
      }
      const [a, b] = once ?? [0, 0];
      const state = hash ? upper(hash(a, b, value), g) : value;
      return remembered(
        memory,
        state,
        () => respond(words, state, g, keep),
        (kept) => {
          const drawn = respond(words, kept, g, again);
          return hash ? dressed(a, b, drawn, width) : bytes(drawn, width);
        },
        once,
      );
    },
  };
}

/** Unary bits, and fresh noise on each. @param {Spec} spec @returns {Law} */
export function flips(spec) {
  const k = values(spec);
  const first = ones(spec);
  const second = ones(spec, "_fresh");
  const [p, q] = alls(first);
  const [stay, turn] = alls(second);
  const bits = rows(k);
  return {
    k,
    size: size(k),
    worst: bitwise(
      [p, q].map((one) => ({ all: one * stay + (SCALE - one) * turn })),
      0n,
      SCALE * SCALE,
    ),
    always: bitwise(first),
    fresh: beside(k * logarithm(worse([stay, turn], [SCALE - turn, SCALE - stay])), 1n),
    kept: k,
    draw: (value, words, memory) =>
      remembered(
        memory,
        value,
        () => bits(words, first, [value]).slice(),
        (kept) => packed(bits(words, second, [], kept), k),
      ),
  };
}
