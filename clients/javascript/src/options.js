/** What a page may say when it joins, checked, and where a collection is. */

import { body, checkBuild } from "./envelope.js";
import { must } from "./errors.js";
import { version } from "./version.js";

/** @typedef {import("./limits.js").Amount} Amount */

/**
 * @typedef {object} Options
 * @property {string} [key] The ingest key, where the collection needs one.
 * @property {string} [spec] The hash of the one spec to answer to.
 * @property {Amount} [maximum] The most that one answer may lose, in nats: 2.
 * @property {Amount} [maximumChain] The most that all may, in this collection and those that it follows: 10.
 * @property {Amount} [maximumTotal] The most that all may, in all collections of this page's origin: 20.
 * @property {Amount} [delta] The most that all deltas may sum up to: 0, for none.
 * @property {boolean} [unprotected] Whether to answer where some values are not protected.
 * @property {boolean} [timesKnown] Whether it may be seen when a value changes, though not to what.
 * @property {string} [build] Which release of a program this is.
 * @property {boolean} [moved] Whether the collection, known from another address, has moved to this one.
 * @property {number} [quota] How many answers may wait for servers: 100.
 * @property {import("./store.js").Store} [store] Where accounts are kept; left out, in IndexedDB.
 */

const DEFAULTS = {
  key: "",
  spec: undefined,
  maximum: 2,
  maximumChain: 10,
  maximumTotal: 20,
  delta: 0,
  unprotected: false,
  timesKnown: false,
  build: `hush-js/${version}`,
  moved: false,
  quota: 100,
  store: undefined,
};

/**
 * All options, those that were left out, undefined or null included.
 *
 * @param {Options} given
 * @returns {Required<Options>}
 */
export function checked(given) {
  const names = Object.keys(DEFAULTS);
  const options = /** @type {any} */ ({ ...DEFAULTS });
  for (const name in given) {
    must(names.includes(name), "options", `be among ${names}`, name, "spell it so");
    options[name] = /** @type {any} */ (given)[name] ?? options[name];
  }
  checkBuild(options.build);
  body(options.key, new Uint8Array());
  const { isSecureContext, crypto, navigator, indexedDB } = globalThis;
  const safe = isSecureContext !== false && crypto?.subtle && (options.store || (navigator?.locks && indexedDB));
  must(safe, "page", "have WebCrypto, Web Locks and IndexedDB", "less", "use https, or pass a store");
  return options;
}

/**
 * The address of a collection, where its server is, and its id.
 *
 * @param {string | URL} where
 */
export function addressOf(where) {
  let { href, protocol, hostname } = /** @type {any} */ ({ href: where });
  try {
    ({ href, protocol, hostname } = new URL(where, globalThis.location?.href));
  } catch {} // refused below
  const [, url, origin, id] = /^(([^?#@]*)\/v1\/collections\/([\da-f]{32}))\/?$/.exec(href) ?? [];
  const unseen = protocol === "https:" || (protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname));
  must(id && unseen, "url", "be https://HOST/v1/collections/ID", href, "copy it");
  return { url, origin, id };
}
