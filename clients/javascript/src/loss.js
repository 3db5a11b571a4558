/**
 * What one answer to a stranger's spec loses: computed from the thresholds and parameters of the spec, rounded up.
 *
 * A server may declare what it likes: what its own thresholds lose more is refused, and so is what protects nothing.
 */

import { law, proven } from "./mechanisms.js";

/** @typedef {import("./mechanisms.js").Loss} Loss */

/**
 * @param {unknown} mechanism The object of a spec that describes its mechanism.
 * @returns {Loss}
 */
export const loss = (mechanism) => law(mechanism).loss;

/** Refuse a spec whose thresholds have another hash than it tells. @param {unknown} mechanism */
export const confirmed = async (mechanism) => proven(law(mechanism));
