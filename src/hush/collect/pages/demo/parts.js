/** Small pieces that the page is made of. */

/** @param {string} tag @param {string} [className] */
export function made(tag, className = "", ...inside) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...inside);
  return element;
}

/** @param {string} id */
export const at = (id) => /** @type {any} */ (document.getElementById(id));

/** @param {number} share */
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`.replace("-", "−");

/** One of four colours and shapes, so that colour alone never tells. @param {number} value */
export const hue = (value) => `hue-${value % 4}`;

/** An answer's shape and name. @param {string} label */
export const name = (label) => made("span", "name", made("i", "mark"), label);

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @param {number} milliseconds */
export const pause = (milliseconds) => new Promise((done) => setTimeout(done, still() ? 0 : milliseconds));
