/** A server of the tests' own, honest or not, in place of the network. */

import { hashed } from "../src/bytes.js";
import { opened } from "../src/envelope.js";
import { memoryStore } from "../src/node.js";

export const ID = "0123456789abcdef".repeat(2);
export const URL_OF = `https://collector.example/v1/collections/${ID}`;

/** The thresholds are those of Python. */
export const COIN = {
  hush: 1,
  domain: { size: 2, labels: ["heads", "tails"] },
  mechanism: { mechanism: "GRR", k: 2, epsilon: 1, thresholds: { keep: "13485650502877570762" } },
};

/** @param {number} status @param {any} told @param {Record<string, string>} [headers] */
export const answer = (status, told, headers = {}) =>
  new Response(typeof told === "string" ? told : JSON.stringify(told), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

/** A refusal in a collector's words. @param {number} status @param {string} reason @param {Record<string, string>} [headers] */
export const problem = (status, reason, headers) =>
  answer(status, { status, reason }, { "content-type": "application/problem+json", ...headers });

export class Scripted {
  /** @type {Map<string, Uint8Array>} */
  taken = new Map();
  /** @type {{url: string, init: any, body: Uint8Array}[]} */
  sent = [];
  /** @type {any[]} */
  views = [];
  /** @type {(envelope: any, bytes: Uint8Array) => Response | undefined} */
  refuse = () => undefined;
  away = false;

  /** @param {any} spec @param {any} more */
  static async of(spec = COIN, more = {}) {
    const made = new Scripted();
    const id = more.id ?? ID;
    made.view = {
      id, name: "coins", status: "open", spec, spec_hash: await hashed(spec), period: 0, chain: [id], needs_key: false, ...more,
    };
    globalThis.fetch = /** @type {any} */ (made.fetch);
    return made;
  }

  /** @param {string} url @param {any} init */
  fetch = async (url, init) => {
    if (this.away) throw new TypeError("nobody is there");
    if (init.method !== "POST") {
      this.views.push(init);
      return this.view instanceof Response ? this.view.clone() : answer(200, this.view);
    }
    const bytes = init.body.slice(1 + init.body[0]);
    this.sent.push({ url, init, body: init.body });
    const envelope = opened(bytes);
    const refused = this.refuse(envelope, bytes);
    if (refused) return refused;
    this.taken.set(envelope.batch, bytes);
    return answer(200, { batch: envelope.batch, period: envelope.period, accepted: 1 });
  };
}

export { memoryStore };
