/** What is asked of a server, and what its answers mean: only one that names the very batch accepts it. */

const FINAL = /^(malformed|conflict|spec|status|period-past|parameter|record)$/; // the same bytes are never taken
const FOR_ALL = /40[134]|429|50[234]/; // every batch would be answered so
const DAY = 86_400; // seconds: a server may ask to wait for as long

export const now = () => Date.now() / 1000;

/**
 * @typedef {object} Answer
 * @property {number} status 0 where there was none.
 * @property {any} [told] What its JSON says.
 * @property {string} reason Why it is refused, in a collector's own words; "" in anyone else's.
 * @property {number} wait Seconds that the server asks to wait for.
 */

/**
 * Ask, and read so many bytes at most.
 *
 * @param {string} url
 * @param {number} most
 * @param {RequestInit} [more]
 * @returns {Promise<Answer>}
 */
export async function asked(url, most, more) {
  const none = { status: 0, reason: "", wait: 0 };
  try {
    const { status, headers, body } = await fetch(url, {
      credentials: "omit",
      referrerPolicy: "no-referrer",
      redirect: "error",
      cache: "no-store",
      signal: AbortSignal.timeout(30_000),
      ...more,
    });
    const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (body).getReader();
    const parts = [];
    for (let part; !(part = await reader.read()).done; parts.push(part.value)) {
      if ((most -= part.value.length) < 0) return none;
    }
    const told = await new Blob(parts).text().then(JSON.parse).catch(() => {});
    const kind = headers.get("content-type")?.startsWith("application/problem+json");
    const reason = kind && told?.status === status && /^[a-z-]{1,40}$/.test(told.reason) ? told.reason : "";
    const said = headers.get("retry-after") ?? "";
    const wait = Number(said) || Date.parse(said) / 1000 - now();
    return { status, told, reason, wait: wait > 0 ? Math.min(wait, DAY) : 0 };
  } catch {
    return none;
  }
}

/**
 * What became of a batch that was sent.
 *
 * @typedef {object} Reply
 * @property {"accepted" | "dropped" | "waiting"} state
 * @property {string} reason The server's, or what went wrong on the way.
 * @property {boolean} alone Whether it is a matter of this batch, and others may be taken all the same.
 */

/**
 * What an answer means to the batch that was sent.
 *
 * @param {{batch: string, period: number}} sent
 * @param {Answer} answer
 * @returns {Reply}
 */
export function replied({ batch, period }, { status, told, reason }) {
  const mine = told?.batch === batch && told.period === period && told.accepted === 1 && !told.refused?.length;
  const state = status === 200 && mine ? "accepted" : FINAL.test(reason) ? "dropped" : "waiting";
  const single = status >= 400 && !FOR_ALL.test(String(status));
  if (status === 413) reason = "too-large";
  else if (state === "waiting") reason ||= status === 200 ? "not-a-collector" : status ? `status-${status}` : "unreachable";
  return { state, reason, alone: state !== "waiting" || single };
}

/**
 * Seconds to wait after so many failures: what the server asks for, and a random time more, so that devices that failed
 * together do not come back together.
 *
 * @param {number} tries
 * @param {number} wait
 */
export const backoff = (tries, wait) =>
  wait + (Math.max(Math.min(2 ** tries, 3600), wait) * crypto.getRandomValues(new Uint32Array(1))[0]) / 2 ** 32;

/** Seconds until then; none where the clock was set back. @param {number} due */
export function left(due) {
  const seconds = due - now();
  return seconds > 0 && seconds < 3 * DAY ? seconds : 0;
}
