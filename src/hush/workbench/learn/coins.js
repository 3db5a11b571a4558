/**
 * The reader's coins and the reader's own report: both are drawn here, in the browser, and only a report leaves.
 *
 * What coins make of an answer comes with the page, as the law of hush.workbench.learn.coins; a report is drawn by the
 * same module that pages of collections use. Listeners are on the document, since the page is drawn after this is read.
 */

import { prepared, secureWords } from "./hush.js";

const FACES = ["tails", "heads"];

/** Two fair coins, from the browser's secure source. */
function flipped() {
  const [bits] = crypto.getRandomValues(new Uint8Array(1));
  return [FACES[bits & 1], FACES[(bits >> 1) & 1]];
}

/** @param {HTMLFormElement} form */
function flip(form) {
  const truth = new FormData(form).get("truth");
  const said = form.querySelector("[data-said]");
  if (!truth) {
    said.textContent = "Choose your true answer first: it stays in this browser.";
    form.querySelector("input").focus();
    return;
  }
  const law = JSON.parse(form.dataset.law);
  const [first, second] = flipped();
  const report = law[truth][`${first} ${second}`];
  const honest = first === "heads";
  show(form, "first", first);
  show(form, "second", honest ? "" : second);
  said.textContent = honest
    ? `The first coin shows heads: you say the truth. Your report is “${report}”.`
    : `The first coin shows tails, the second ${second}: your report is “${report}”, whatever the truth.`;
  const number = Number(form.dataset.flips ?? 0) + 1;
  const same = Number(form.dataset.same ?? 0) + Number(report === truth);
  Object.assign(form.dataset, { flips: number, same });
  form.querySelector("[data-tally]").textContent =
    number === 1 ? "Flip again: with the same answer, another report may come." : `${same} of your ${number} reports were the truth.`;
}

/** @param {HTMLFormElement} form @param {string} which @param {string} face "" for a coin that is not flipped. */
function show(form, which, face) {
  const coin = form.querySelector(`[data-coin="${which}"]`);
  coin.textContent = face || "not needed";
  coin.dataset.face = face;
  coin.classList.remove("falling");
  void coin.offsetWidth; // so that the next line starts the fall anew
  coin.classList.add("falling");
}

/** @param {HTMLFormElement} form */
function answer(form) {
  const value = new FormData(form).get("value");
  const said = form.querySelector("[data-said]");
  if (value === null) {
    said.textContent = "Choose an answer first: it stays in this browser.";
    form.querySelector("input").focus();
    return;
  }
  said.textContent = "";
  const report = prepared(JSON.parse(form.dataset.mechanism)).draw(Number(value), secureWords());
  form.dispatchEvent(new CustomEvent("report", { bubbles: true, detail: Array.from(report) }));
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !(form.matches("[data-law]") || form.matches("[data-mechanism]"))) return;
  event.preventDefault();
  if (form.matches("[data-law]")) flip(form);
  else answer(form);
});
