/** What a report says of each answer, for every mechanism that reports can be made by here. */

import { SCALE } from "./numbers.js";
import * as families from "./supports.js";
import { get, wide } from "./words.js";

/** @typedef {import("./supports.js").Family} Family */
/** @typedef {import("./supports.js").Spoken} Spoken */
/** @typedef {{worst: [bigint, bigint], k?: number, proof?: [string, string]}} Law */

const { bucketed, log, rows, threshold } = families;

/** @type {[names: string, family: Family][]} */
const FAMILIES = [
  ["GRR AGRR uRR", families.direct],
  ["SS ASS uSS", families.subset],
  ["MSS", families.residues],
  ["UE SUE OUE THE AUE ATHE ASUE uRAP uUE", families.unary],
  ["LH OLH ALH AOLH uLH BLH ABLH", families.hashed],
  ["Wheel uWheel", families.wheel],
  ["HR uHR", families.hadamard],
  ["PGR", families.projective],
  ["CMS", families.sketch],
  ["HCMS", families.coefficient],
  ["RAPPOR", families.filters],
];
const MADE = new Map(FAMILIES.flatMap(([names, family]) => names.split(" ").map((name) => [name, family])));

/**
 * What one report says; over time, the first one.
 *
 * @param {any} m The object of a spec that describes its mechanism.
 * @param {Law} law What the client makes of it.
 * @param {Uint8Array} report
 * @param {(value: number) => string} told An answer in words.
 * @returns {Spoken}
 */
export function spoken(m, law, report, told) {
  const { protocol, mechanism } = m;
  if (protocol === "Memoized") return spoken(mechanism, law, report, told);
  if (!law.k) return number(m, get(report, 0, report.length), report);
  if (protocol) return overTime(m, log(...law.worst), report, told);
  return (mechanism[0] === "u" ? utility : /** @type {Family} */ (MADE.get(mechanism)))(m, report, told, law);
}

/** Randomized twice: how much a report favours an answer follows from both. @param {any} m @param {number} favour @param {Uint8Array} report @param {(value: number) => string} told */
function overTime(m, favour, report, told) {
  if (/E$/.test(m.protocol)) return rows(m, report, told, favour);
  if (/LOLOHA$/.test(m.protocol)) return bucketed(m, report, told, m.g ?? 2, favour);
  const found = families.direct({ ...m, thresholds: { keep: m.thresholds.permanent } }, report, told);
  return { ...found, favour, gain: (/** @type {number} */ value) => (found.supports?.(value) ? favour : 0) };
}

/** Only some answers are protected: others are disguised as one of these, or sent. @param {any} m @param {Uint8Array} report @param {(value: number) => string} told @param {Law} law @returns {Spoken} */
function utility(m, report, told, law) {
  const k = m.k;
  /** @type {number[]} */
  const sensitive = m.sensitive ?? Array.from({ length: k }, (_, value) => value);
  const s = sensitive.length;
  const places = new Map(sensitive.map((value, i) => [value, i]));
  const width = wide(k - 1);
  const base = report.subarray(1, report.length - width);
  const sent = get(report, report.length - width, width);
  const kinds = ["a protected answer follows", "an answer that is not protected follows", "both follow"];
  const kind = { bytes: report.subarray(0, 1), words: `what follows: ${kinds[report[0]]}` };
  const family = /** @type {Family} */ (MADE.get(m.mechanism));
  const single = { parts: [{ bytes: base, words: "always the same" }], favour: 0, supports: () => true };
  const inner = s > 1 ? family({ ...m, k: s }, base, (i) => told(sensitive[i])) : single;
  const rest = { bytes: report.subarray(report.length - width), words: "nothing" };
  if (report[0]) {
    const idle = { bytes: base, words: base.some(Boolean) ? "a function that says nothing" : "nothing" };
    rest.words = `the true answer, ${told(sent)}, which this collection does not protect`;
    return { parts: [kind, ...(report[0] === 2 ? inner.parts : [idle]), rest], gain: (value) => (value === sent ? 0 : -Infinity) };
  }
  const favour = Number(inner.favour);
  const supports = /** @type {(value: number) => boolean} */ (inner.supports);
  const size = sensitive.reduce((sum, _, i) => sum + Number(supports(i)), 0);
  const shown = law.proof ? BigInt(law.proof[0].split(",")[size]) : threshold(m, "reveal");
  const disguised = (Number(threshold(m, "disguise")) * Number(SCALE - shown)) / 2 ** 128;
  const mean = (size * Math.exp(favour) + s - size) / s;
  const other = Math.log(disguised * mean); // against one of the sensitive answers that it does not speak for
  return {
    parts: [kind, ...inner.parts, rest],
    gain: (value) => (places.has(value) ? Number(supports(Number(places.get(value)))) * favour : other),
  };
}

/** A number out of a range: values are numbers, and what is likelier lies on one side, or around a place. @param {any} m @param {number} sent @param {Uint8Array} bytes @returns {Spoken} */
function number({ mechanism, low, high, steps, thresholds }, sent, bytes) {
  const [base, slope, keep] = ["base", "slope", "keep"].map((name) => BigInt(thresholds[name] ?? 0));
  const [inside, height] = [Number(thresholds.inside), Number(thresholds.height)];
  const outputs = mechanism === "Duchi" ? 0 : inside + height * steps;
  /** @param {number} tick */
  const coin = (tick) => {
    const up = base + slope * BigInt(tick);
    return Number(sent - outputs ? up : SCALE - up);
  };
  /** @param {number} tick */
  const window = (tick) => {
    const from = height * tick;
    return sent >= from && sent < from + inside ? Number(keep) / inside : Number(SCALE - keep) / (outputs - inside);
  };
  const sliding = sent < outputs;
  const weight = sliding ? window : coin;
  /** @param {number} tick */
  const amount = (tick) => String(Number((low + ((high - low) * Math.min(Math.max(tick, 0), steps)) / steps).toPrecision(4)));
  const span = `between ${amount((sent - inside) / height)} and ${amount(sent / height)}`;
  const side = sent - outputs ? "a large number" : "a small one";
  const near = Math.min(Math.floor(sent / height), steps);
  const words = sliding
    ? `a place on a line, which is likelier if the true number lies ${span}`
    : `one coin, which speaks for ${side}: likelier, the nearer the true number is to ${sent - outputs ? high : low}`;
  return {
    parts: [{ bytes, words }],
    telling: [low, high, ...(sliding ? [low + ((high - low) * near) / steps] : [])],
    gain(value) {
      const place = Math.min(Math.max(((value - low) * steps) / (high - low), 0), steps);
      const floor = Math.min(Math.floor(place), steps - 1);
      return Math.log((floor + 1 - place) * weight(floor) + (place - floor) * weight(floor + 1));
    },
  };
}
