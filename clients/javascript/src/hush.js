/** Hush for browsers: an answer is randomized where the person is, and nothing else leaves the device. */

export { join } from "./collection.js";
export { HushError } from "./errors.js";
export { law, prepared } from "./mechanisms.js";
export { version } from "./version.js";
export { secureWords } from "./words.js";

/** @typedef {import("./types.js").Collection} Collection */
/** @typedef {import("./types.js").Receipt} Receipt */
/** @typedef {import("./types.js").Spent} Spent */
/** @typedef {import("./domain.js").Label} Label */
/** @typedef {import("./mechanisms.js").Loss} Loss */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./spool.js").Delivery} Delivery */
/** @typedef {import("./store.js").Store} Store */
