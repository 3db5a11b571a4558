/** How `<hush-question>` looks; a page sets its colours and its font by the custom properties of the first rule. */

const RULES = `
:host {
  --hush-ground: #ffffff; --hush-ink: #1d2330; --hush-faint: #5d6678; --hush-line: #7d8698; --hush-accent: #0a66b0;
  --hush-on-accent: #ffffff; --hush-error: #b3261e; --hush-font: inherit; --hush-radius: 0.6rem;
  display: block; color-scheme: light dark; max-width: 36rem; padding: 1.25rem; background: var(--hush-ground);
  color: var(--hush-ink); border: 1px solid var(--hush-line); border-radius: var(--hush-radius);
  font-family: var(--hush-font); line-height: 1.5;
}
:host([hidden]) { display: none; }
@media (prefers-color-scheme: dark) {
  :host {
    --hush-ground: #171a21; --hush-ink: #e8eaf0; --hush-faint: #a3abbb; --hush-line: #7d8698; --hush-accent: #6cb4ee;
    --hush-on-accent: #10131a; --hush-error: #ff8a80;
  }
}
* { box-sizing: border-box; font: inherit; color: inherit; }
p { margin: 0.75rem 0 0; }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
legend { font-size: 1.2em; font-weight: 600; line-height: 1.3; padding: 0; margin-bottom: 0.75rem; }
.choices { display: grid; gap: 0.25rem; }
.choices label { display: flex; gap: 0.6rem; align-items: center; min-height: 2.75rem; padding: 0.25rem 0.5rem; border-radius: var(--hush-radius); cursor: pointer; overflow-wrap: anywhere; }
.choices label:hover { background: color-mix(in srgb, var(--hush-accent) 10%, transparent); }
input[type="radio"] { flex: none; width: 1.2rem; height: 1.2rem; margin: 0; accent-color: var(--hush-accent); }
select, input:not([type="radio"]) { width: 100%; min-height: 2.75rem; padding: 0.4rem 0.6rem; background: var(--hush-ground); border: 1px solid var(--hush-line); border-radius: var(--hush-radius); }
.typed span { display: block; color: var(--hush-faint); margin-bottom: 0.25rem; }
[part="promise"] { color: var(--hush-faint); font-size: 0.9em; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.6rem; margin-top: 1rem; }
button { min-height: 2.75rem; padding: 0.5rem 1.1rem; border: 1px solid var(--hush-accent); border-radius: var(--hush-radius); background: var(--hush-accent); color: var(--hush-on-accent); font-weight: 600; cursor: pointer; }
button.quiet { background: transparent; color: var(--hush-ink); border-color: var(--hush-line); font-weight: 400; }
:disabled { cursor: default; }
button:disabled { opacity: 0.6; }
:focus-visible { outline: 3px solid var(--hush-accent); outline-offset: 2px; }
[part="status"]:empty { display: none; }
[part="status"]:first-child, div:empty + [part="status"] { margin-top: 0; }
[part="status"][data-state="error"] { color: var(--hush-error); }
details { margin-top: 0.75rem; }
summary { cursor: pointer; padding: 0.25rem 0; }
dl { margin: 0.75rem 0 0; display: grid; gap: 0.6rem; font-size: 0.9em; }
dd { margin: 0; color: var(--hush-faint); }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
`;

/** @type {CSSStyleSheet | undefined} */
let sheet;

/** One for all elements; none is written into the page, whose policy may forbid it. */
export function style() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(RULES);
  }
  return sheet;
}
