/** The page's course: a question, coins, bytes, odds, and a crowd. */

import { explain } from "/client/{{version}}/question.js";
import { asked } from "./asked.js";
import { coins, fell, kind, rule } from "./coins.js";
import { crowd } from "./crowd.js";
import { at, hue, made, name, pause, percent, still } from "./parts.js";
import { bytes, odds, tracks } from "./shown.js";

const VISITORS = 1000; // at first; ten times as many later
const FRAMES = 240;
const ANSWERED = "You have answered this question already, in this period of it. Nothing more was sent.";

const what = await asked();
const { labels, collection } = what;
let spec; // of the latest report
let mine; // the answer
let report;
let simulated; // the crowd
let joining = 0; // which run of visitors is under way

/** The mechanism of a spec. @param {any} spec */
const of = (spec) => ("hush" in spec ? spec.mechanism : spec);

at("choices").append(
  ...labels.map((label, value) => {
    const choice = Object.assign(document.createElement("input"), { type: "radio", name: "value", value, required: true });
    return made("label", hue(value), choice, name(label));
  }),
);
if (collection) {
  at("asked").textContent = collection.name;
  at("where").textContent = `Your randomized answer is sent to “${collection.name}”, of this collector, once. Nothing else is.`;
  at("flip").textContent = "Flip the coins, and send";
  at("settings").hidden = at("again").hidden = true;
} else if (what.problem) {
  at("where").textContent = `The collection cannot be asked: ${what.problem} So everything stays in this page. Nothing is sent.`;
}
at("flip").disabled = false;

/** Randomize what is chosen, and show all that follows from it. */
function choose() {
  const form = new FormData(at("question"));
  mine = Number(form.get("value"));
  spec = what.spec(form.get("mechanism"), form.get("epsilon"));
  return flip();
}

/** The same for the latest answer, whatever is chosen by now. */
async function flip() {
  at("flip").disabled = at("again").disabled = true;
  try {
    const given = await what.report(spec, mine);
    if (given.batch && !given.envelope) say(ANSWERED);
    else {
      const explanation = explain(spec, given);
      report = Uint8Array.from(explanation.report.match(/../g), (pair) => parseInt(pair, 16));
      await show(explanation, given);
    }
  } catch (error) {
    say(error.parameter === "value" ? ANSWERED : error.message); // all that can be chosen is a value
  }
  at("again").disabled = false;
  at("flip").disabled = Boolean(collection);
}

/** Say what keeps the page from going on. @param {string} text */
function say(text) {
  at("where").textContent = text;
  at("where").scrollIntoView({ block: "center" });
}

async function show(explanation, { state }) {
  const m = of(spec);
  for (const part of ["bytes-part", "odds-part", "crowd-part"]) at(part).hidden = true;
  at("rule").textContent = rule(m, labels[mine]);
  at("fell").textContent = "";
  at("coins").replaceChildren(...coins(m, report, mine, labels));
  at("coins-part").hidden = false;
  at("coins-title").focus({ preventScroll: true });
  at("coins-part").scrollIntoView({ block: "start" });
  await pause(kind(m) === "other" ? 0 : 1700);
  at("fell").textContent = fell(m, report, mine, labels);
  const sent = { accepted: "It was sent, and taken.", waiting: "It is sent as soon as the server can be reached." };
  const here = "In this page, it goes nowhere. In a collection it would go out once, with the collection's number and a random one for itself.";
  at("left").textContent = `${explanation.words[0].replace("left", state ? "left" : "would leave")} ${state ? (sent[state] ?? "") : here}`;
  at("bytes").replaceChildren(...bytes(explanation, m, labels));
  const { factor, bound, epsilon } = explanation;
  at("factor").replaceChildren(
    `The odds between any two answers moved by a factor of ${factor.toFixed(2)} at most. They cannot move by more than e`,
    made("sup", "", String(epsilon)),
    ` = ${bound.toFixed(2)}, whatever comes out, and whoever looks.`,
  );
  at("suspicion").value = String(Math.round(100 / labels.length));
  suspect();
  restart();
  for (const part of ["bytes-part", "odds-part", "crowd-part"]) at(part).hidden = false;
}

/** The odds of somebody who held one answer for likely, and the others for alike. */
function suspect() {
  const share = Number(at("suspicion").value) / 100;
  const even = share === Math.round(100 / labels.length) / 100;
  const prior = labels.map((_, value) => (even ? 1 : value === mine ? share : (1 - share) / (labels.length - 1)));
  at("suspected").textContent = even ? "Nobody did." : `${percent(share, 0)} sure of “${labels[mine]}”.`;
  at("odds").replaceChildren(...odds(explain(spec, report, { prior }).answers.map((each, value) => ({ ...each, label: labels[value] }))));
}

let shownTracks;

/** A crowd of one: you. Reports that the page cannot count by itself are replaced by its own. */
function restart() {
  joining++;
  const m = of(spec);
  const counted = kind(m) === "other" ? of(what.specs["OUE 1.0"]) : m;
  const names = kind(m) === "other" ? ["Sea", "Forest", "Museum", "Cinema"] : labels;
  simulated = crowd(counted, names.length);
  if (counted === m) simulated.add(mine, report);
  else at("crowd-about").textContent = "One report says next to nothing. These visitors are simulated in this page, and answer the page's own question.";
  shownTracks = tracks(names);
  at("crowd").replaceChildren(...shownTracks.rows);
  at("progress").value = 0;
  at("settled").textContent = "";
  at("join").textContent = "Let a thousand visitors join";
  at("join").disabled = false;
  counting();
}

function counting() {
  const { n } = simulated;
  at("number").textContent = n.toLocaleString("en");
  at("people").textContent = n === 1 ? "report, yours" : "reports";
  if (n) shownTracks.show(simulated.estimates());
}

/** Many more, slowly at first: that is where an estimate moves. */
async function join() {
  const run = ++joining;
  const visitors = simulated.n < VISITORS ? VISITORS : 10 * VISITORS;
  at("progress").max = visitors;
  at("join").disabled = true;
  at("settled").textContent = "";
  for (let frame = 1, joined = 0; frame <= FRAMES; frame++) {
    if (still()) frame = FRAMES;
    for (const due = Math.ceil(visitors * (frame / FRAMES) ** 2); joined < due; joined++) simulated.join();
    at("progress").value = joined;
    counting();
    await new Promise(requestAnimationFrame);
    if (run !== joining) return;
  }
  const rows = simulated.estimates();
  const furthest = Math.max(...rows.map(({ estimate, truth }) => Math.abs(estimate - truth)));
  at("settled").textContent = `${simulated.n.toLocaleString("en")} reports, none of which gives anyone away: the estimates are off by ${(100 * furthest).toFixed(1)} percentage points at most. Four times as many halve the error.`;
  at("join").textContent = "Let ten thousand more join";
  at("join").disabled = false;
}

at("question").addEventListener("submit", (event) => {
  event.preventDefault();
  void choose();
});
at("again").addEventListener("click", () => void flip());
at("suspicion").addEventListener("input", suspect);
at("join").addEventListener("click", () => void join());
at("over").addEventListener("click", () => {
  restart();
  at("crowd-title").scrollIntoView({ block: "start" });
});
document.documentElement.dataset.ready = "yes";
