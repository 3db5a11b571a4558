/** One collection, as a page sees it: `join`, and the one person who answers. */

import { answered, forget } from "./answering.js";
import { linked, offered, remember } from "./book.js";
import { HushError, LEAVE, must } from "./errors.js";
import { consent, counted, deltas, shown, sum } from "./limits.js";
import { addressOf, checked } from "./options.js";
import { locked, spool } from "./spool.js";
import { kept } from "./store.js";
import { asked, left } from "./wire.js";

/** @typedef {import("./book.js").Offer} Offer */
/** @typedef {import("./domain.js").Label} Label */
/** @typedef {import("./types.js").Collection} Collection */

const MOST_VIEW = 1 << 22; // bytes that a server may tell of a collection
const FRESH = 60; // seconds for which it is not asked again

/**
 * Take part in a collection: its spec is fetched, and refused where it would lose more than it says, or than you allow.
 * Nothing is stored by it.
 *
 * @param {string | URL} url The collection's address, https://HOST/v1/collections/ID.
 * @param {import("./options.js").Options} [given]
 * @returns {Promise<Collection>}
 */
export async function join(url, given = {}) {
  const options = checked(given);
  const place = addressOf(url);
  const { id, origin } = place;
  const store = kept(options.store);
  const made = /** @type {Collection} */ ({ id, key: options.key, period: 0 });
  const { see, deliver, quietly, close } = spool(store, place, made);
  let offer = /** @type {Offer} */ ({});
  let until = 0; // when the server is asked again, by the page's own clock
  let over = "";

  /** Ask the server, or where it cannot be reached what is remembered, what the collection is. */
  const look = async () => {
    const state = await store.read();
    const known = state.collections[id];
    const early = see(state).some((each) => left(each.asked));
    const answer = early ? { status: 0, reason: "", wait: 0 } : await asked(place.url, MOST_VIEW);
    const told = answer.status === 200 ? answer.told : (known?.view ?? offer.view);
    must(told, "url", "lead to a collection", answer.reason || `status ${answer.status}`, "try again later");
    const offering = offered(told, id, made.hash ?? options.spec).catch((error) => {
      must(error instanceof HushError, "spec", "be known here", error.name, LEAVE); // as where it is nested too deep
      throw error;
    });
    const found = { ...(await offering), origin, moved: options.moved };
    const { view, loss, labels } = found;
    consent(loss, options);
    if (known) {
      const before = JSON.stringify(known);
      if (before !== JSON.stringify(remember(state, found))) await store.update((all) => remember(all, found));
    }
    offer = found;
    until = performance.now() + 1000 * Math.max(FRESH, answer.wait);
    const period = Math.max(made.period, view.period, known?.period ?? 0);
    const behind = view.period < period ? view.period : undefined;
    Object.assign(made, view, { period, told: behind, hash: view.spec_hash, labels, loss });
    if (see(state).length) quietly();
  };

  /** @param {Label | boolean | null} [value] */
  made.answer = async (value) => {
    if (performance.now() >= until) await look();
    const status = over || made.status;
    must(status === "open", "collection", "be open", status, "join again later");
    must(made.key || !offer.view.needs_key, "key", "be given", "none", "copy it");
    const coded = offer.code(value);
    const [state, bytes] = await locked("hush", () => answered(store, offer, made.period, coded, options));
    see(state);
    globalThis.navigator?.storage?.persist?.().catch(() => {});
    await deliver().catch(() => {}); // it is kept, and sent later
    const { collections, waiting } = await store.read();
    const { salt, tag, ...receipt } = /** @type {any} */ (collections[id].answered);
    const reason = waiting.find(({ batch }) => batch === receipt.batch)?.reason ?? receipt.reason;
    return { collection: id, ...receipt, reason, told: made.told, envelope: bytes };
  };

  made.decline = async () => {
    over = "declined";
  };

  made.leave = async () => {
    over = "left";
    close();
    await locked("hush", async () => {
      if (!(await store.read()).collections[id]) return;
      const [state] = await store.update((all) => forget(all, id));
      see(state);
    });
  };

  made.flush = deliver;
  made.close = close;

  made.spent = async () => {
    const { protocols } = await store.read();
    const { timesKnown } = options;
    return {
      collection: shown(sum(protocols, timesKnown, id)),
      chain: shown(sum(linked(protocols, offer.view.chain), timesKnown)),
      total: shown(sum(protocols, timesKnown)),
      delta: shown(deltas(protocols)),
      answers: protocols.reduce((all, each) => all + counted(each, id), 0),
    };
  };

  await look();
  return made;
}
