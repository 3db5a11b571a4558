/**
 * Which value an answer means: the label that it equals, or else the one that is written alike, as 7 and "7" are. What
 * means none is `other`, where the domain has one. Without labels, it is an integer.
 */

import { LEAVE, must } from "./errors.js";
import { FIT } from "./spec.js";

/** @typedef {string | number} Label */
/** @typedef {{size: number, labels?: Label[], other?: Label}} Domain */

/**
 * What finds the index of an answer, 0..k-1.
 *
 * @param {Domain | undefined} domain
 * @param {number} k
 * @returns {(value: any) => number}
 */
export function reader(domain, k) {
  const { size, labels, other } = domain ?? { size: k };
  const right = size === k && (!labels || (labels.length === k && new Set(labels).size === k));
  must(right, "domain", FIT, "another", LEAVE);
  return (value) => {
    const text = String(value);
    let at = labels ? labels.indexOf(value) : /^\d+$/.test(text) ? Number(text) : -1;
    if (labels && at < 0 && value != null) at = labels.findIndex((label) => String(label) === text);
    if (labels && at < 0 && other !== undefined) at = labels.indexOf(other);
    must(at >= 0 && at < k, "value", labels ? "be a label" : `be an integer in 0..${k - 1}`, "another", "see labels");
    return at;
  };
}
