/**
 * What left a device, and what anyone can conclude from it, for a person.
 *
 * A report moves the odds of two answers by the ratio of its probabilities with the one and with the other, whoever
 * looks, whatever they knew before. Those probabilities follow from the integers of the spec.
 */

import { hex } from "./bytes.js";
import { opened } from "./envelope.js";
import { HushError, law } from "./hush.js";
import { spoken } from "./spoken.js";

/** @typedef {string | number} Label */

/**
 * An answer that may have been given.
 *
 * @typedef {object} Answer
 * @property {Label} label
 * @property {number} likelihood How probable the report is with this answer: 1 with the likeliest of all, less with others.
 * @property {number} before The probability of the answer before the report was seen.
 * @property {number} after The same, after.
 * @property {number} oddsBefore Of the answer, against all others: 0.5 are one to two.
 * @property {number} oddsAfter
 */

/**
 * @typedef {object} Explanation
 * @property {{bytes: string, words: string}[]} sent All that left the device, in hex, and what it is.
 * @property {string} report The report alone, in hex.
 * @property {Answer[]} answers Each answer, in the order of the spec; of many, those that are likeliest afterwards. Of a
 *   number, five out of its range.
 * @property {number} factor By how much the report moved the odds of any two answers, at most; whatever they were.
 * @property {number} bound The most that it could have: e^epsilon, unless something of small probability happened (delta),
 *   or the answer is none that is protected.
 * @property {number} epsilon What the spec declares, after it was checked.
 * @property {number} delta
 * @property {boolean} revealed Whether the answer was sent as it is, since it is none that is protected.
 * @property {string[]} words All of it in sentences.
 */

const SHOWN = 1000;
const POINTS = 5;

/**
 * Explain a report.
 *
 * @param {any} asked A collection that was joined, its spec, or the object of a spec that describes a mechanism.
 * @param {any} given What `answer` gave, or the bytes of one report.
 * @param {{prior?: ArrayLike<number>, most?: number}} [options] `prior`: how likely each answer is beforehand, in the
 *   order of the spec (all alike); `most`: how many answers to list (1000).
 * @returns {Explanation}
 */
export function explain(asked, given, { prior, most = SHOWN } = {}) {
  const spec = asked?.hash && asked.spec ? asked.spec : asked;
  const { mechanism: m, domain } = spec && "hush" in spec ? spec : { mechanism: spec, domain: undefined };
  const known = law(m);
  const { k, size, loss } = known;
  const [report, around] = bytesOf(given, size);
  const labels = k ? domain?.labels : points(m);
  /** @param {number} value @returns {Label} */
  const label = (value) => labels?.[value] ?? value;
  const said = spoken(m, known, report, (value) => (labels ? `“${label(value)}”` : String(value)));

  const number = k ?? POINTS;
  const gains = Float64Array.from({ length: number }, (_, value) => said.gain(k ? value : labels[value]));
  const telling = said.telling ? Float64Array.from(said.telling, said.gain) : gains;
  const top = telling.reduce((one, two) => Math.max(one, two));
  const bottom = telling.reduce((one, two) => Math.min(one, two));
  const revealed = bottom === -Infinity;
  const beliefs = before(prior, number);
  const likelihoods = gains.map((gain) => Math.exp(gain - top));
  const total = beliefs.reduce((sum, each, value) => sum + each * likelihoods[value], 0);
  need(total > 0, "prior", "leave the report possible", "one that does not", "give some weight to every answer");

  const afters = beliefs.map((each, value) => (each * likelihoods[value]) / total);
  const answers = Array.from(listed(afters, most), (value) => ({
    label: label(value),
    likelihood: likelihoods[value],
    before: beliefs[value],
    after: afters[value],
    oddsBefore: odds(beliefs, value),
    oddsAfter: odds(afters, value),
  }));
  const { declared: epsilon, delta } = loss;
  const bound = Math.exp(epsilon);
  const within = !delta && !revealed; // the integers of the spec were checked: only this logarithm is rounded
  const factor = within ? Math.min(Math.exp(top - bottom), bound) : Math.exp(top - bottom);
  const parts = said.parts.filter(({ bytes }) => bytes.length);
  const sent = [...around.slice(0, -1), ...parts.map(({ bytes, words }) => ({ bytes: hex(bytes), words }))];
  const found = { sent, report: hex(report), answers, factor, bound, epsilon, delta, revealed };
  const telltale = parts.reduce((sum, { bytes, idle }) => (idle ? sum : sum + bytes.length), 0);
  const best = afters.reduce((one, two) => Math.max(one, two));
  const alike = afters.reduce((sum, each) => sum + Number(each === best), 0);
  return { ...found, words: sentences(found, telltale, alike === number ? 0 : alike, loss.fresh !== undefined) };
}

/** @param {unknown} right @param {string} parameter @param {string} rule @param {unknown} got @param {string} remedy @returns {asserts right} */
function need(right, parameter, rule, got, remedy) {
  if (!right) throw new HushError(parameter, rule, got, remedy);
}

/**
 * The report's own bytes, and all that left the device, part by part.
 *
 * @param {any} given
 * @param {number} size
 * @returns {[Uint8Array, {bytes: string, words: string}[]]}
 */
function bytesOf(given, size) {
  const whole = given?.envelope ?? given;
  need(whole instanceof Uint8Array, "report", "be bytes, or what answer() gave with its envelope", typeof whole, "keep it");
  const all = given?.envelope ? opened(whole) : undefined;
  const report = all ? all.records : whole;
  const remedy = "take one report, of this very spec";
  need(report.length === size, "report", `be of ${size} bytes`, report.length, remedy);
  if (!all) return [report, [{ bytes: hex(report), words: "" }]];
  const at = [0, 6, 22, 54, 70, 74, 75 + all.build.length, 79 + all.build.length, 83 + all.build.length, whole.length];
  const words = [
    "the letters HSHB, and a version",
    "which collection it is for",
    "the hash of its spec, the rules by which reports are made",
    "a number for this message, drawn at random, so that it counts once",
    `the period, ${all.period}`,
    `which program made it: ${all.build || "not said"}`,
    "how many reports follow: 1",
    `of how many bytes each is: ${size}`,
    "",
  ];
  return [report, words.map((each, i) => ({ bytes: hex(whole.subarray(at[i], at[i + 1])), words: each }))];
}

/** Some numbers of a range. @param {any} m */
const points = ({ low, high }) =>
  Array.from({ length: POINTS }, (_, i) => low + ((high - low) * i) / (POINTS - 1));

/** Beliefs beforehand, which sum to 1. @param {ArrayLike<number> | undefined} prior @param {number} number */
function before(prior, number) {
  const given = prior ? Float64Array.from(prior) : new Float64Array(number).fill(1);
  const sum = given.reduce((one, two) => one + two, 0);
  const right = given.length === number && given.every((each) => each >= 0) && sum > 0 && sum < Infinity;
  need(right, "prior", `be ${number} numbers of at least 0, not all 0`, `${given.length} others`, "give one for each answer");
  return given.map((each) => each / sum);
}

/** Of an answer against all others, which are summed, so that little is not lost beside much. @param {Float64Array} chances @param {number} value */
const odds = (chances, value) =>
  chances[value] < 0.5
    ? chances[value] / (1 - chances[value])
    : chances[value] / chances.reduce((sum, each, other) => (other === value ? sum : sum + each), 0);

/** All answers, or of many the likeliest. @param {Float64Array} afters @param {number} most */
function listed(afters, most) {
  const all = Uint32Array.from({ length: afters.length }, (_, value) => value);
  return afters.length <= most ? all : all.sort((one, two) => afters[two] - afters[one] || one - two).subarray(0, most);
}

/** A number as people write it. @param {number} number */
const shown = (number) =>
  number < 1000 ? String(Number(number.toPrecision(number > 1 && number < 1.1 ? 5 : 3))) : Math.round(number).toLocaleString("en");

/** @param {number} count */
const bytesIn = (count) => (count === 1 ? "1 byte" : `${count} bytes`);

/**
 * @param {Omit<Explanation, "words">} found
 * @param {number} telltale How many bytes depend on the answer.
 * @param {number} alike How many answers are the likeliest; 0 for all of them.
 * @param {boolean} again Whether further answers come.
 */
function sentences({ sent, answers, factor, bound, epsilon, delta, revealed }, telltale, alike, again) {
  const count = sent.reduce((sum, { bytes }) => sum + bytes.length / 2, 0);
  const rest = telltale < count ? `, of which ${bytesIn(telltale)} ${telltale === 1 ? "depends" : "depend"} on the answer` : "";
  const said = [`What left the device: ${bytesIn(count)}${rest}.`];
  const likeliest = answers.reduce((one, two) => (two.after > one.after ? two : one));
  if (revealed) {
    said.push(`The answer “${likeliest.label}” can be read from it: this collection does not protect it.`);
    return said;
  }
  const others = alike > 1 ? `, with ${alike - 1} as likely` : "";
  const now = `${percent(likeliest.after)}, where it was ${percent(likeliest.before)}`;
  said.push(alike ? `The likeliest answer is now “${likeliest.label}”${others}: ${now}.` : "All answers are as likely as each other.");
  said.push(`It moved the odds of any two answers by a factor of at most ${shown(factor)}, whatever was known before.`);
  const except = delta ? `, but with a probability of ${delta}` : "";
  said.push(`No report of this collection can move them by more than ${shown(bound)} (ε = ${shown(epsilon)})${except}.`);
  if (again) said.push("Further answers add to what can be concluded, within the account that is kept on the device.");
  return said;
}

/** @param {number} share */
const percent = (share) => `${shown(100 * share)} %`;
