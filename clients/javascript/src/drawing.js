/** What draws reports and what they lose, without accounts or a network: for whoever audits, measures or explains them. */

export { confirmed, loss } from "./loss.js";
export { known, prepared } from "./mechanisms.js";
export { replayed, secureWords } from "./words.js";
