/** What waits to be sent: whole envelopes, which never change, and when to try again. */

import { body } from "./envelope.js";
import { asked, backoff, left, now, replied } from "./wire.js";

/** @typedef {import("./book.js").State} State */
/** @typedef {import("./book.js").Waiting} Waiting */

/**
 * What sending did.
 *
 * @typedef {object} Delivery
 * @property {number} accepted Answers that the server has taken.
 * @property {number} dropped Answers that it never will.
 * @property {number} waiting Answers that still wait.
 * @property {string} reason Why something waits, or was dropped.
 * @property {number} due Seconds until it makes sense to try again.
 */

const TOGETHER = 60_000; // bytes that may be on their way from a page that is closed
const LONGEST = 1 << 16; // bytes of an answer

/** Batches that this page is sending. @type {Set<string>} */
const flying = new Set();
let together = 0; // their bytes

/**
 * Do something while no other tab of this origin does anything of that name.
 *
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export const locked = (name, work) => /** @type {any} */ (globalThis.navigator?.locks?.request(name, work) ?? work());

/**
 * @param {import("./store.js").Kept} store
 * @param {{url: string, origin: string, id: string}} place
 * @param {{key: string}} own Whose key it is, at the moment.
 */
export function spool(store, { url, origin, id }, own) {
  const ears = new AbortController();
  const { signal } = ears;
  const address = `${url}/batches`;
  let waiting = /** @type {Waiting[]} */ ([]);
  let timer = /** @type {any} */ (0);

  /** Note what waits for this collection, at this address. @param {State} state */
  const see = (state) => {
    const here = state.collections[id]?.origin === origin;
    waiting = state.waiting.filter(({ collection }) => here && collection === id);
    return waiting;
  };

  /** Send one answer, and enter what became of it. @param {Waiting} one */
  const send = async ({ batch, period, bytes }) => {
    const content = body(own.key, bytes);
    const keepalive = (together += content.length) <= TOGETHER;
    flying.add(batch);
    const headers = { "Content-Type": "text/plain" }; // which needs no preflight
    const answer = await asked(address, LONGEST, { method: "POST", body: content, keepalive, headers });
    flying.delete(batch);
    together -= content.length;
    const reply = replied({ batch, period }, answer);
    const { state, reason, alone } = reply;
    const [all] = await store.update((all) => {
      const { answered } = all.collections[id];
      const [mine] = all.waiting.filter((each) => each.batch === batch);
      if (mine && state === "waiting") {
        const { wait } = answer;
        const due = now() + backoff(mine.tries, wait);
        const late = { reason, alone, tries: mine.tries + 1, asked: now() + wait, due };
        for (const each of alone ? [mine] : see(all)) Object.assign(each, late);
      } else if (mine) {
        all.waiting = all.waiting.filter((each) => each !== mine);
        if (answered?.batch === batch) Object.assign(answered, { state, reason });
      } // else another page has done it
    });
    see(all);
    return reply;
  };

  /**
   * Send what waits and is due, until the server cannot be reached, or takes none.
   *
   * @returns {Promise<Delivery>}
   */
  const deliver = () =>
    locked(address, async () => {
      const told = { accepted: 0, dropped: 0, waiting: 0, reason: "", due: 0 };
      see(await store.read());
      for (const each of waiting) {
        if (left(each.due)) continue;
        const { state, reason, alone } = await send(each);
        told[state]++;
        told.reason = reason;
        if (!alone) break;
      }
      told.waiting = waiting.length;
      if (waiting.length) {
        told.reason ||= waiting[0].reason;
        told.due = Math.min(...waiting.map(({ due }) => left(due)));
        clearTimeout(timer);
        if (!signal.aborted) timer = setTimeout(quietly, told.due * 1000);
        timer.unref?.(); // of Node, which need not wait for it
      }
      return told;
    });

  const quietly = () => void deliver().catch(() => {});

  /** Send at once what the server did not ask to wait for: the page is being closed, or put away, or back online. */
  const hurry = () => {
    for (const each of waiting) {
      if (flying.has(each.batch) || left(each.asked)) continue;
      if ("keepalive" in Request.prototype) send(each).catch(() => {});
      else navigator.sendBeacon(address, new Blob([body(own.key, each.bytes)], { type: "text/plain" }));
    }
  };

  for (const name of ["online", "pagehide", "visibilitychange"]) globalThis.addEventListener?.(name, hurry, { signal });
  return {
    see,
    deliver,
    quietly,
    close() {
      ears.abort();
      clearTimeout(timer);
    },
  };
}
