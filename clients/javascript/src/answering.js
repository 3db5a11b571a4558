/**
 * From a value to an envelope that is on the disk: charged, randomized and entered, all at once.
 *
 * One transaction does it. If it is cut short, nothing was drawn that anybody saw, and nothing is spent; once it is
 * done, no other bytes will ever be made for the same period.
 */

import { protocolOf, remember } from "./book.js";
import { newId, sha256 } from "./bytes.js";
import { sealed } from "./envelope.js";
import { must } from "./errors.js";
import { charge } from "./limits.js";
import { secureWords } from "./words.js";

/** @typedef {import("./book.js").State} State */
/** @typedef {import("./book.js").Offer} Offer */

/**
 * Make an answer, unless there is one of this period; the envelope, where one was made.
 *
 * @param {import("./store.js").Kept} store
 * @param {Offer} offer
 * @param {number} now The period of now, as far as this page knows.
 * @param {number} coded What the person holds.
 * @param {Required<import("./options.js").Options>} options
 * @returns {Promise<[State, Uint8Array?]>}
 */
export async function answered(store, offer, now, coded, options) {
  const { view, mechanism } = offer;
  const { id: collection, spec_hash: hash } = view;
  const { size } = mechanism;
  const { build, quota } = options;
  const salt = newId();
  const tag = await sha256(salt + coded);
  const [all, made] = await store.update((all) => {
    const { protocols, waiting } = all;
    const known = remember(all, offer);
    const period = Math.max(now, known.period);
    if (known.answered?.period === period) return undefined;
    const own = protocolOf(all, offer);
    charge(protocols, own, collection, options);
    let records = mechanism.draw(coded, secureWords(), own.memory);
    if (mechanism.kind === "longitudinal") {
      own.memory = records.memory;
      records = records.report;
    }
    const batch = newId();
    const bytes = sealed({ collection, hash, batch, period, build, size, records });
    must(waiting.length < quota, "quota", `be above ${waiting.length}`, quota, "flush() first");
    const calm = { reason: "", alone: false, tries: 0, asked: 0, due: 0 };
    const first = waiting.find((each) => each.collection === collection && !each.alone); // this one waits behind it
    waiting.push({ ...calm, ...first, batch, collection, period, bytes });
    known.period = period;
    known.answered = { period, batch, salt, tag, state: "waiting", reason: "" };
    return bytes;
  });
  const before = /** @type {any} */ (all.collections[collection].answered);
  const same = made || before.tag === (await sha256(before.salt + coded));
  must(same, "value", "be the first of this period", "another", "ask in the next one");
  return [all, made];
}

/**
 * Forget what waits, what was answered, and kept answers; what was spent is not forgotten.
 *
 * Whoever answers again draws permanent answers anew: that has an account of its own, beside the one so far.
 *
 * @param {State} state
 * @param {string} id
 */
export function forget(state, id) {
  const { answered } = state.collections[id];
  for (const each of state.protocols) if (id in each.answers) Object.assign(each, { hash: "", memory: undefined });
  state.waiting = state.waiting.filter(({ collection }) => collection !== id);
  if (answered) {
    answered.tag = "";
    if (answered.state === "waiting") Object.assign(answered, { state: "dropped", reason: "left" });
  }
}
