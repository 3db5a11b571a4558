/**
 * `<hush-question>`: a form that asks a person one question of a collection, and sends the randomized answer.
 *
 *     <script type="module" src="https://HOST/client/VERSION/question.js"></script>
 *     <hush-question src="https://HOST/v1/collections/ID" key="…" question="Which pet do you have?"></hush-question>
 */

import { explain } from "./explain.js";
import { join } from "./hush.js";
import { style } from "./question-style.js";

export { explain };

/** @typedef {import("./hush.js").Collection} Collection */

const RADIOS = 8; // more answers are a list to choose from
const LISTED = 500; // and more than these a field to type in

/** What it says, by the state that it is in; an element's own `texts` may say otherwise. */
export const TEXTS = {
  loading: "The question is being fetched.",
  answer: "Send my randomized answer",
  decline: "I would rather not say",
  choose: "Choose an answer",
  promise:
    "Your answer is randomized on this device before anything is sent: whatever anyone sees of it, their odds between any two answers change by a factor of at most {factor} (ε = {epsilon}).",
  except: "With a probability of {delta}, they may change by more.",
  unprotected: "{unprotected} of the answers are not protected, and may be read.",
  sending: "Your answer is being randomized.",
  accepted: "Thank you. Only the randomized answer was sent.",
  waiting: "Thank you. The randomized answer is kept here, and sent as soon as the server can be reached.",
  dropped: "The server did not take the answer ({reason}).",
  again: "You have answered this already, and nothing more was sent: it is asked again in a later period.",
  unknown: "This is none of the answers that can be given.",
  declined: "Nothing was sent, and nothing is kept.",
  closed: "This question takes no answers at the moment.",
  left: "What left this device",
};

/** @param {string} text @param {Record<string, unknown>} words */
const filled = (text, words) => text.replace(/\{(\w+)\}/g, (_, name) => String(words[name]));

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [entries]
 * @param {(Node | string)[]} inside
 */
function made(tag, entries = {}, ...inside) {
  const { part, ...rest } = entries;
  const element = Object.assign(document.createElement(tag), rest);
  if (part) element.setAttribute("part", String(part));
  element.append(...inside);
  return element;
}

/** @param {number} number */
const short = (number) => String(Number(number.toPrecision(3)));

const Base = globalThis.HTMLElement ?? class {}; // for programs that only explain

/**
 * Events, all of which bubble: `hush-answered` ({receipt, explanation}), `hush-declined`, `hush-error` ({error}).
 */
export class HushQuestion extends Base {
  static observedAttributes = ["src"];

  /** More of what `join` takes. @type {import("./options.js").Options} */
  options = {};

  /** Other words than `TEXTS`, some or all. @type {Partial<typeof TEXTS>} */
  texts = {};

  /** What was joined; undefined before. @type {Collection | undefined} */
  collection;

  #status = made("p", { part: "status", role: "status", tabIndex: -1 });
  #place = made("div");
  #more = made("div");
  #turn = 0; // of the latest address

  connectedCallback() {
    if (!this.shadowRoot) {
      const root = this.attachShadow({ mode: "open", delegatesFocus: true });
      root.adoptedStyleSheets = [style()];
      root.append(this.#place, this.#status, this.#more);
    }
    void this.#ask();
  }

  attributeChangedCallback() {
    if (this.shadowRoot && this.isConnected) void this.#ask();
  }

  disconnectedCallback() {
    this.#turn++;
    this.collection?.close();
    this.collection = undefined;
  }

  /** @param {keyof typeof TEXTS} name @param {Record<string, unknown>} [words] */
  #text(name, words = {}) {
    return filled(this.texts[name] ?? TEXTS[name], words);
  }

  /** @param {string} text */
  #say(text, state = "") {
    this.#status.textContent = text;
    this.#status.dataset.state = state;
  }

  /** @param {string} name @param {object} [detail] */
  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  /** @param {unknown} error */
  #fail(error) {
    this.#say(error instanceof Error ? error.message : String(error), "error");
    this.#tell("hush-error", { error });
  }

  async #ask() {
    const turn = ++this.#turn;
    this.collection?.close();
    this.collection = undefined;
    this.#place.replaceChildren();
    this.#more.replaceChildren();
    this.#say(this.#text("loading"));
    try {
      const key = this.getAttribute("key") ?? "";
      const joined = await join(this.getAttribute("src") ?? "", { key, ...this.options });
      if (turn !== this.#turn) return joined.close();
      this.collection = joined;
      this.#say("");
      this.#place.replaceChildren(this.#form(joined));
      if (joined.status !== "open") this.#end(this.#text("closed"));
    } catch (error) {
      if (turn === this.#turn) this.#fail(error);
    }
  }

  /** @param {Collection} collection */
  #form(collection) {
    const { loss } = collection;
    const words = { ...loss, epsilon: short(loss.declared), factor: short(Math.exp(loss.declared)) };
    const promise = [this.#text("promise", words)];
    if (loss.delta) promise.push(this.#text("except", words));
    if (loss.unprotected) promise.push(this.#text("unprotected", words));
    const note = made("p", { part: "promise", id: "promise" }, promise.join(" "));
    const question = this.getAttribute("question") || collection.name;
    const group = made("fieldset", { part: "group" }, made("legend", { part: "question" }, question), ...this.#fields(collection));
    group.setAttribute("aria-describedby", "promise");
    const decline = made("button", { part: "decline", type: "button", className: "quiet" }, this.#text("decline"));
    const buttons = made("div", { part: "buttons", className: "buttons" }, made("button", { part: "answer" }, this.#text("answer")), decline);
    const form = made("form", { part: "form" }, group, note, buttons);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#answer(collection, form);
    });
    decline.addEventListener("click", () => void this.#decline(collection));
    return form;
  }

  /** What to choose from, or a field to type in. @param {Collection} collection @returns {HTMLElement[]} */
  #fields({ labels, spec }) {
    const { k, low, high, mechanism } = "hush" in spec ? spec.mechanism : spec;
    const field = { name: "value", required: true };
    const size = k ?? mechanism?.k;
    if (!size) return this.#typed({ ...field, type: "number", min: low, max: high, step: "any" }, `${low} … ${high}`);
    const all = labels ?? (size <= LISTED ? Array.from({ length: size }, (_, value) => value) : []);
    if (!all.length) return this.#typed({ ...field, type: "number", min: 0, max: size - 1, step: 1 }, `0 … ${size - 1}`);
    if (all.length <= RADIOS) {
      const lines = all.map((label, at) =>
        made("label", { part: "choice" }, made("input", { ...field, type: "radio", value: at }), made("span", {}, String(label))),
      );
      return [made("div", { className: "choices" }, ...lines)];
    }
    const options = all.map((label, at) => made("option", { value: at }, String(label)));
    if (all.length <= LISTED) {
      const first = made("option", { value: "", disabled: true, selected: true }, this.#text("choose"));
      const select = made("select", { ...field, ariaLabel: this.#text("choose") }, first, ...options);
      return [select];
    }
    const names = made("datalist", { id: "names" }, ...all.map((label) => made("option", { value: String(label) })));
    const input = made("input", { ...field, type: "text", ariaLabel: this.#text("choose"), autocomplete: "off" });
    input.setAttribute("list", "names");
    return [input, names];
  }

  /** @param {Record<string, unknown>} entries @param {string} range */
  #typed(entries, range) {
    const input = made("input", entries);
    return [made("label", { className: "typed" }, made("span", {}, range), input)];
  }

  /** @param {Collection} collection @param {HTMLFormElement} form */
  async #answer(collection, form) {
    const { labels, spec } = collection;
    const text = String(new FormData(form).get("value") ?? "");
    if (!text) return;
    const typed = labels && labels.length > LISTED;
    const known = !typed || spec.domain.other !== undefined || labels.some((label) => String(label) === text);
    if (!known) return this.#say(this.#text("unknown"), "error");
    const value = typed ? text : labels ? labels[Number(text)] : Number(text);
    this.#busy(form, true);
    this.#say(this.#text("sending"));
    try {
      const receipt = await collection.answer(value);
      const explanation = receipt.envelope && explain(spec, receipt);
      const { state, reason } = receipt;
      const texts = { accepted: "accepted", waiting: "waiting", dropped: "dropped", declined: "declined" };
      this.#end(this.#text(/** @type {keyof typeof TEXTS} */ (texts[state]), { reason }), state);
      if (explanation) this.#more.append(this.#shown(explanation));
      this.#tell("hush-answered", { receipt, explanation });
    } catch (error) {
      this.#busy(form, false);
      this.#fail(error);
      // It is one of the answers: so another one was given before.
      if (/** @type {any} */ (error).parameter === "value") this.#end(this.#text("again"), "error");
    }
  }

  /** @param {Collection} collection */
  async #decline(collection) {
    try {
      await collection.decline();
      this.#end(this.#text("declined"), "declined");
      this.#tell("hush-declined");
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What left the device, for who wants to know. @param {import("./explain.js").Explanation} explanation */
  #shown({ sent, words }) {
    const rows = sent.map((each) => made("div", {}, made("dt", {}, made("code", {}, each.bytes)), made("dd", {}, each.words)));
    const lines = words.map((line) => made("p", {}, line));
    return made("details", { part: "explanation" }, made("summary", {}, this.#text("left")), ...lines, made("dl", {}, ...rows));
  }

  /** @param {HTMLFormElement} form @param {boolean} busy */
  #busy(form, busy) {
    for (const each of form.querySelectorAll("fieldset, button")) each.toggleAttribute("disabled", busy);
    form.ariaBusy = String(busy);
  }

  /** No more answers: the form goes, and what is said stays and is read out. @param {string} text */
  #end(text, state = "") {
    const focused = this.shadowRoot?.activeElement;
    this.#place.querySelector("form")?.remove();
    this.#say(text, state);
    if (focused || state) this.#status.focus({ preventScroll: true });
  }
}

if (globalThis.customElements && !customElements.get("hush-question")) customElements.define("hush-question", HushQuestion);
