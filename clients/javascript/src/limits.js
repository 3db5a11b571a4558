/** How much a person lets go of: sums that are exact, and limits that hold before anything is drawn. */

import { must } from "./errors.js";

/** @typedef {import("./mechanisms.js").Loss} Loss */
/** @typedef {number | string} Amount */
/** @typedef {{maximum: Amount, maximumChain: Amount, maximumTotal: Amount, delta: Amount, timesKnown: boolean, unprotected: boolean}} Limits */

/**
 * What answers are kept under, and charged to.
 *
 * @typedef {object} Protocol
 * @property {string[]} chain The ids of all collections that were told to be of one chain with it.
 * @property {string} origin Of the server that sees its answers.
 * @property {string} hash Of the spec.
 * @property {Loss} loss
 * @property {Record<string, number>} answers How many there are, by collection.
 * @property {any} [memory] Permanent answers.
 */

const PLACES = 1100;

/** A number as its decimals say, in units of 10^-1100: ten times 0.1 is 1. @param {Amount} value */
export function exact(value, name = "epsilon") {
  const found = /^(\d+)\.?(\d{0,99})(e([+-]?\d{1,3}))?$/.exec(String(value));
  must(found, name, "be decimals, of at least 0", value, "use e.g. 0.5");
  const [, whole, part, , power = 0] = found;
  return BigInt(whole + part) * 10n ** BigInt(PLACES - part.length + Number(power));
}

/** @param {bigint | undefined} amount */
export const shown = (amount) => (amount === undefined ? null : Number(`${amount}e-${PLACES}`));

/**
 * What so many answers come to; undefined where nothing bounds it.
 *
 * Fresh reports add up. Of kept answers, the first one loses what is declared, and each further one what fresh noise
 * hides of it, whatever the values were and whenever they changed. Where it may be seen when they do, each value's
 * permanent answer is counted once.
 *
 * @param {Loss} loss
 * @param {number} answers
 * @param {boolean} timesKnown
 */
export function cost({ declared, fresh, permanent = 0, kept }, answers, timesKnown) {
  const one = exact(declared);
  if (fresh === undefined || answers < 2) return one * BigInt(answers);
  const any = fresh < Infinity ? one + exact(fresh) * BigInt(answers - 1) : undefined;
  if (!timesKnown || !kept) return any;
  const known = exact(permanent) * BigInt(Math.min(answers, kept));
  return any === undefined || known < any ? known : any;
}

/** How many answers there are, of one collection or of all. @param {Protocol} protocol @param {string} [id] */
export const counted = ({ answers }, id) =>
  id ? (answers[id] ?? 0) : Object.values(answers).reduce((one, two) => one + two, 0);

/**
 * What all answers by some protocols come to, those of one collection or of all.
 *
 * @param {Protocol[]} protocols
 * @param {boolean} timesKnown
 * @param {string} [id]
 * @returns {bigint | undefined}
 */
export function sum(protocols, timesKnown, id) {
  let total = 0n;
  for (const each of protocols) {
    const spent = cost(each.loss, counted(each, id), timesKnown);
    if (spent === undefined) return spent;
    total += spent;
  }
  return total;
}

/** @param {Protocol[]} protocols */
export const deltas = (protocols) =>
  protocols.reduce((total, each) => total + exact(each.loss.delta) * BigInt(counted(each)), 0n);

/**
 * Refuse what does not fit into the limits.
 *
 * @param {bigint} one What an answer adds.
 * @param {bigint} chain What all of a chain come to.
 * @param {bigint} total What all come to.
 * @param {bigint} delta
 * @param {Limits} limits
 */
function within(one, chain, total, delta, limits) {
  const needed = { maximum: one, maximumChain: chain, maximumTotal: total, delta };
  for (const name of /** @type {(keyof typeof needed)[]} */ (Object.keys(needed))) {
    const right = needed[name] <= exact(limits[name], name);
    must(right, name, `be at least ${shown(needed[name])} for an answer`, limits[name], "or raise it");
  }
}

/** Refuse what one answer would lose, whoever gives it. @param {Loss} loss @param {Limits} limits */
export function consent({ declared, delta, unprotected }, limits) {
  const one = exact(declared);
  within(one, one, one, exact(delta), limits);
  const right = !unprotected || limits.unprotected;
  must(right, "spec", "protect every value", `${unprotected} exceptions`, "or pass unprotected");
}

/**
 * Enter one more answer; refused where a limit does, and then all that was changed is to be thrown away.
 *
 * @param {Protocol[]} protocols All of them.
 * @param {Protocol} own The one that answers.
 * @param {string} id The collection that is answered.
 * @param {Limits} limits
 */
export function charge(protocols, own, id, limits) {
  const { timesKnown } = limits;
  const before = sum(protocols, timesKnown) ?? 0n;
  own.answers[id] = counted(own, id) + 1;
  const total = sum(protocols, timesKnown);
  const remedy = "or pass timesKnown";
  must(total !== undefined, "loss", "have a bound", "none", remedy);
  const chain = sum(protocols.filter((each) => each.chain === own.chain), timesKnown) ?? 0n;
  within(total - before, chain, total, deltas(protocols), limits);
}
