/** What a page gets to see: the collection that it joined, and what answering gives. */

/**
 * @typedef {object} Collection
 * @property {string} id The collection's id.
 * @property {string} name What it is called.
 * @property {"draft" | "open" | "closed"} status Whether answers are taken: "open".
 * @property {number} period The period that answers are of.
 * @property {number} [told] The period that the server tells of, where it is below one that it told before.
 * @property {any} spec What makes the reports: plain data, whose hash was checked.
 * @property {string} hash SHA-256 of the spec.
 * @property {readonly import("./domain.js").Label[] | undefined} labels What may be answered; undefined for 0, 1, 2 …
 *   and for amounts.
 * @property {import("./mechanisms.js").Loss} loss What one answer loses, as computed here.
 * @property {string} key The ingest key; it may be set anew, and what waits is sent with the one of the moment.
 * @property {(value?: import("./domain.js").Label | boolean | null) => Promise<Receipt>} answer Answer in the present
 *   period: randomized, entered in the account, on the disk, and only then sent. Asked again in the same period, it
 *   gives the receipt of the first answer, and another value is refused.
 * @property {() => Promise<void>} decline Answer nothing: nothing is stored, sent or spent, and this object takes no
 *   answer any more.
 * @property {() => Promise<void>} leave Take no part any more: what waits, what was answered and kept answers are
 *   forgotten; what was spent is not.
 * @property {() => Promise<import("./spool.js").Delivery>} flush Send what waits, the very bytes that were made, unless
 *   it is too early for it.
 * @property {() => Promise<Spent>} spent What was spent so far: in this browser, on pages of this origin.
 * @property {() => void} close Listen no more for this page's end, and try no more by itself. What waits is kept.
 */

/**
 * That an answer was given: it is made once, and spent for, whatever becomes of it.
 *
 * @typedef {object} Receipt
 * @property {string} collection The collection's id.
 * @property {number} period Of the answer.
 * @property {string} batch The id of the batch that it is.
 * @property {"waiting" | "accepted" | "dropped"} state
 * @property {string} reason Why it waits or was dropped; "" for nothing.
 * @property {number} [told] The period that the server tells of, where it is below one that it told before.
 * @property {Uint8Array} [envelope] All that leaves the device but the key, where it was made for this very call.
 */

/**
 * What was spent; null where nothing bounds it.
 *
 * @typedef {object} Spent
 * @property {number | null} collection In this collection.
 * @property {number | null} chain In it and those that it follows or that follow it.
 * @property {number | null} total In all collections of this page's origin.
 * @property {number | null} delta The sum of all deltas.
 * @property {number} answers How many answers there are in this collection.
 */

export {};
