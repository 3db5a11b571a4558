/** What draws reports and what they lose, without accounts or a network: for whoever audits, measures or explains them. */

export { loss } from "./loss.js";
export { confirmed, known, prepared } from "./mechanisms.js";
export { replayed, secureWords } from "./words.js";
