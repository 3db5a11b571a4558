/** What a server told of its collection, checked, and remembered, so that it cannot tell otherwise later. */

import { hashed } from "./bytes.js";
import { reader } from "./domain.js";
import { LEAVE, must } from "./errors.js";
import { law, proven } from "./mechanisms.js";
import { integer } from "./spec.js";

/** @typedef {import("./domain.js").Label} Label */
/** @typedef {import("./mechanisms.js").Loss} Loss */
/** @typedef {import("./limits.js").Protocol} Protocol */

/**
 * What is kept of what a server told.
 *
 * @typedef {object} View
 * @property {string} id
 * @property {string} name
 * @property {"draft" | "open" | "closed"} status
 * @property {number} period
 * @property {string[]} chain The collection and those that it follows.
 * @property {boolean} needs_key
 * @property {any} spec
 * @property {string} spec_hash
 */

/**
 * @typedef {object} Offer
 * @property {string} origin Where the collection is.
 * @property {boolean} moved Whether it may have been elsewhere before.
 * @property {View} view
 * @property {any} mechanism What draws reports.
 * @property {Loss} loss What one answer loses, as computed here.
 * @property {Label[]} [labels]
 * @property {(value: any) => number} code What a value is to the mechanism.
 */

/**
 * What a page remembers of a collection.
 *
 * @typedef {object} Known
 * @property {string} origin
 * @property {View} view
 * @property {number} period The greatest that was told.
 * @property {{period: number, batch: string, salt: string, tag: string, state: string, reason: string}} [answered]
 *   The latest: what became of it, and a salted hash of the value.
 */

/**
 * An answer that is to be sent.
 *
 * @typedef {object} Waiting
 * @property {string} batch
 * @property {string} collection
 * @property {number} period
 * @property {Uint8Array} bytes The envelope.
 * @property {string} reason Why it still waits.
 * @property {boolean} alone Whether others need not.
 * @property {number} tries How often it was sent.
 * @property {number} asked The second since 1970 before which the server asked not to be asked.
 * @property {number} due The same, and a random time more.
 */

/** @typedef {{protocols: Protocol[], collections: Record<string, Known>, waiting: Waiting[]}} State */

const ID = /^[\da-f]{32}$/;

/** @returns {State} */
export const nothing = () => ({ protocols: [], collections: {}, waiting: [] });

const MOST_BYTES = 1 << 20; // of a report

/**
 * What was told, checked: nothing of it is believed that can be computed.
 *
 * @param {any} told
 * @param {string} id The collection that was asked for.
 * @param {string | undefined} pinned The hash of the one spec to take: the page's, or that of the spec which it was shown.
 * @returns {Promise<Omit<Offer, "origin" | "moved">>}
 */
export async function offered(told, id, pinned) {
  const { name, status, period, chain, needs_key, spec, spec_hash } = told;
  const ids = Array.isArray(chain) && chain[0] === id && chain.length <= 1000 && chain.every((one) => ID.test(one));
  const right = ids && told.id === id && integer(period, 0, 2 ** 31 - 1);
  must(right, "collection", "be known here", "another", LEAVE);
  const hash = await hashed(spec);
  must(hash === (pinned ?? hash) && hash === spec_hash, "spec", `have the hash ${pinned ?? spec_hash}`, hash, LEAVE);
  const plain = !("hush" in spec); // without labels
  const known = plain || (Object.keys(spec).sort().join() === "domain,hush,mechanism" && spec.hush <= 2);
  must(known, "spec", "be known here", "another", LEAVE);
  const { mechanism, domain } = plain ? { mechanism: spec } : spec;
  const made = law(mechanism);
  await proven(made);
  must(made.size <= MOST_BYTES, "report", "be shorter", made.size, LEAVE);
  return {
    view: { id, name, status, period, chain, needs_key, spec, spec_hash },
    mechanism: made,
    loss: made.loss,
    labels: domain?.labels?.slice(), // the page's own, which it may sort
    code: made.k ? reader(domain, made.k) : (value) => value, // a number, as the mechanism holds it to
  };
}

/**
 * Enter what was told; what is known of the collection from now on.
 *
 * A collection that is known keeps its spec, stays where it is unless it may move, and its period never goes back.
 *
 * @param {State} state
 * @param {Offer} offer
 */
export function remember({ collections }, { origin, view, moved }) {
  const { id, spec_hash: hash, period, status } = view;
  const known = (collections[id] ??= { origin, view, period });
  const was = known.view.spec_hash;
  must(was === hash, "spec", `have the hash ${was}`, hash, LEAVE);
  must(known.origin === origin || moved, "url", `begin with ${known.origin}`, origin, "or pass moved");
  if (known.answered && (period > known.period || status === "closed")) known.answered.tag = "";
  return Object.assign(known, { origin, view, period: Math.max(period, known.period) });
}

/** Those of one chain with some collections. @param {Protocol[]} protocols @param {string[]} chain */
export const linked = (protocols, chain) =>
  protocols.filter((each) => each.chain.some((id) => chain.includes(id)));

/**
 * What answers are kept under and charged to: one for all collections of a server and a chain that have the same spec,
 * wherever the server has moved since.
 *
 * Chains only grow together: what was once told to be of one stays of one.
 *
 * @param {State} state
 * @param {Offer} offer
 * @returns {Protocol}
 */
export function protocolOf({ protocols }, { origin, view, loss }) {
  const { id, spec_hash: hash } = view;
  const others = linked(protocols, view.chain);
  const chain = [...new Set([...view.chain, ...others.flatMap((each) => each.chain)])];
  for (const each of others) each.chain = chain;
  const same = others.find((each) => each.hash === hash && (id in each.answers || each.origin === origin));
  return same ?? protocols[protocols.push({ chain, origin, hash, loss, answers: {} }) - 1];
}
