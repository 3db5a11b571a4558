/** All mechanisms that can be drawn here, by name, and what each of them loses. */

import { unary } from "./bits.js";
import { sha256 } from "./bytes.js";
import { hadamard } from "./hadamard.js";
import { hashed, wheel } from "./hashing.js";
import { fixed, logarithm, within } from "./numbers.js";
import { coin, either, gridded, sliding } from "./numeric.js";
import { flips, remembered, responses } from "./overtime.js";
import { projective } from "./projective.js";
import { coefficient, filters, sketch } from "./sketches.js";
import { checked, done, entries, favour, FIT, inside, integer, number, refuse, take, threshold, values } from "./spec.js";
import { residues, subset } from "./subsets.js";
import { utility } from "./utility.js";
import { bytes, respond, wide } from "./words.js";

/** @typedef {import("./numbers.js").Ratio} Ratio */
/** @typedef {import("./overtime.js").Memory} Memory */
/** @typedef {import("./spec.js").Spec} Spec */
/** @typedef {import("./words.js").Words} Words */

/**
 * What one answer loses.
 *
 * @typedef {object} Loss
 * @property {number} epsilon The exact loss of the spec's thresholds, rounded up; with delta where there is one.
 * @property {number} declared What the spec declares, at least epsilon.
 * @property {number} delta
 * @property {number} unprotected How many values may be revealed.
 * @property {number} [lasting] Over time: the loss of any number of answers with a value that does not change.
 * @property {number} [permanent] Over time: what the spec declares for these.
 * @property {number} [fresh] Over time: what each further answer adds, whatever the values are.
 * @property {number} [kept] Over time: how many permanent answers there can be, where they change when values do.
 */

/**
 * What a family of mechanisms makes of a spec.
 *
 * @typedef {object} Law
 * @property {number} [k] How many values there are.
 * @property {number} [low] The smallest number, where values are numbers.
 * @property {number} [high] The largest.
 * @property {number} size Bytes of a report.
 * @property {Ratio} worst The largest ratio of probabilities of a report under two values; where reports have two levels
 *   of probability, their weights for a value that they support and for another.
 * @property {Ratio} [always] Over time: of any number of reports of a value that does not change.
 * @property {number} [fresh]
 * @property {number} [kept]
 * @property {number} [unprotected]
 * @property {[text: string, hash: string]} [proof] What a spec tells only the hash of, and that hash.
 * @property {(value: number, words: Words, memory?: Memory) => any} draw
 * @property {() => number[]} [sizes] How many values a report can support; left out, any number.
 * @property {(report: Uint8Array) => number} [supports] How many it does.
 */

/** @typedef {Law & {name: string, kind: "frequency" | "numeric" | "longitudinal", loss: Loss}} Mechanism */

/** Randomized response: the value stays, or another takes its place. @param {Spec} spec @param {bigint} [slack] @returns {Law} */
function direct(spec, slack) {
  const k = values(spec);
  const keep = threshold(spec, "keep");
  return {
    k,
    size: wide(k - 1),
    worst: favour(keep, 1, k - 1, slack),
    draw: (value, words) => respond(words, value, k, keep),
    sizes: () => [1],
    supports: () => 1,
  };
}

/** Names of mechanisms, and what makes them. @type {[names: string, family: (spec: Spec, slack?: bigint) => Law][]} */
const FAMILIES = [
  ["GRR AGRR uRR", direct],
  ["SS ASS uSS", subset],
  ["MSS", residues],
  ["UE SUE OUE THE AUE ATHE ASUE uRAP uUE", unary],
  ["LH OLH ALH AOLH uLH", hashed],
  ["BLH ABLH", (spec, slack) => hashed(spec, slack, 2)],
  ["Wheel uWheel", wheel],
  ["HR uHR", hadamard],
  ["PGR", projective],
  ["CMS", sketch],
  ["HCMS", coefficient],
  ["RAPPOR", filters],
  ["Duchi", gridded(coin)],
  ["Piecewise", gridded(sliding)],
  ["Hybrid", gridded(either)],
  ["LGRR", (spec) => responses(spec, false)],
  ["LOLOHA OLOLOHA", (spec) => responses(spec, true)],
  ["BiLOLOHA", (spec) => responses(spec, true, 2)],
  ["LSUE LOSUE LOUE LSOUE", flips],
];
const MADE = new Map(FAMILIES.flatMap(([names, family]) => names.split(" ").map((name) => [name, family])));

/** The names of all mechanisms that can be drawn here. */
export const known = Object.freeze([...MADE.keys(), "Memoized"]);

/** Entries that say how a parameter was chosen, or what a threshold was made from: nothing here depends on them. */
const IDLE = "w_asr strategy search theta p coverage".split(" ");

/**
 * A loss that is declared, and is no less than the true one, which it gives.
 *
 * @param {string} name
 * @param {number} declared
 * @param {Ratio} ratio
 */
const honest = (name, declared, ratio) =>
  within(ratio, declared) ? logarithm(ratio) : refuse(name, "be no less than the thresholds lose", declared);

/**
 * What a spec's object for a mechanism describes.
 *
 * @param {any} plain
 * @returns {Mechanism}
 */
function described(plain) {
  const spec = entries(plain);
  const over = spec.has("protocol");
  const word = over ? "protocol" : "mechanism";
  const name = take(spec, word);
  if (!known.includes(name) || over !== /^(L.*E|LGRR|.*LOLOHA|Memoized)$/.test(name)) {
    refuse(word, `be one of ${known.join(" ")}`, name);
  }
  if (name === "Memoized") return memoized(spec);
  const permanent = over ? number(spec, "eps_perm", 1e-6, 20) : undefined;
  const told = over ? "eps_1" : "epsilon";
  const declared = number(spec, told, 1e-6, permanent ?? 40);
  const delta = /^A(GRR|SUE|.LH)$/.test(name) ? number(spec, "delta", 1e-12, 1 - 2 ** -53) : 0;
  for (const idle of IDLE) spec.delete(idle);
  const family = /** @type {(spec: Spec, slack?: bigint) => Law} */ (MADE.get(name));
  const made = name[0] === "u" ? utility(spec, declared, family) : family(spec, fixed(delta));
  done(spec);
  const { always, fresh, kept, unprotected = 0 } = made;
  const epsilon = honest(told, declared, made.worst);
  const lasting = always && Math.max(epsilon, honest("eps_perm", /** @type {number} */ (permanent), always));
  const loss = { epsilon, declared, delta, unprotected, lasting, permanent, fresh, kept };
  return { ...made, name, kind: over ? "longitudinal" : made.k ? "frequency" : "numeric", loss };
}

/** Reports of any mechanism, each drawn once. @param {Spec} spec @returns {Mechanism} */
function memoized(spec) {
  const plain = take(spec, "mechanism");
  const inner = described(plain);
  for (const [name, text] of Object.entries(plain.thresholds)) {
    if (take(spec, `#${name}`) !== text) refuse("thresholds", FIT, name);
  }
  done(spec);
  const { epsilon, declared, delta, unprotected } = inner.loss;
  if (inner.kind !== "frequency" || delta || unprotected) refuse("mechanism", FIT, inner.name);
  return {
    ...inner,
    name: "Memoized",
    kind: "longitudinal",
    loss: { ...inner.loss, lasting: epsilon, permanent: declared, fresh: Infinity, kept: inner.k },
    draw: (value, words, memory) => remembered(memory, value, () => bytes(inner.draw(value, words), inner.size), (kept) => kept.slice()),
  };
}

/**
 * What a spec's object for a mechanism describes, what it loses, and what draws its reports, for which tables are built
 * here; refused where it is none, loses more than it says, or protects nothing. Over time, `draw` takes what is kept of
 * the person's answers, nothing at first, and gives it back with the report.
 *
 * @param {any} plain
 * @returns {Readonly<Mechanism>}
 */
export function law(plain) {
  const made = described(plain);
  const { k, low = 0, high = 0, size, draw } = made;
  return Object.freeze({
    ...made,
    /** @type {Law["draw"]} */
    draw(value, words, memory) {
      checked("value", value, low, k ? k - 1 : high, k ? integer : inside, "another", "pass one");
      const report = bytes(draw(value, words, memory), size);
      words.hi = words.lo = 0; // as those before it, the last word is forgotten
      return report;
    },
  });
}

export { law as prepared };

/**
 * Thresholds that a spec tells only the hash of follow from its other entries: refuse it if they have another hash.
 *
 * Nothing that a person loses hangs on it: `loss` goes by the thresholds that are used. It finds a spec that was made by
 * other rules than these, whose estimates would be wrong.
 *
 * @param {Law} law
 */
export async function proven({ proof }) {
  if (proof && (await sha256(proof[0])) !== proof[1]) refuse("reveal", FIT, proof[1]);
}
