/**
 * Holds a client to tests/golden/replays.json, in Node as in a browser: the same reports from the same words, the same
 * losses, and refusals that name what is wrong.
 */

/** @typedef {{prepared: Function, loss: Function, confirmed: Function, replayed: Function}} Client */

/** Words from their little-endian bytes in hex: the lower half of each, then its upper one. @param {string} hex */
export const wordsOf = (hex) => {
  const bytes = new DataView(Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16)).buffer);
  return new Uint32Array(bytes.byteLength / 4).map((_, i) => bytes.getUint32(4 * i, true));
};

/** @param {Uint8Array} bytes */
export const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * @param {any} stored What the file holds.
 * @param {Client} client
 * @returns {Promise<string[]>} What failed, in words.
 */
export async function failures(stored, client) {
  /** @type {string[]} */
  const failed = [];
  /** @param {string} name @param {() => string | Promise<string>} what */
  const trying = async (name, what) => {
    try {
      const wrong = await what();
      if (wrong) failed.push(`${name}: ${wrong}`);
    } catch (error) {
      failed.push(`${name}: ${error}`);
    }
  };
  for (const [name, entry] of Object.entries(stored.replays)) {
    await trying(name, () => replay(entry, client) || lost(entry, client));
    await trying(name, () => client.confirmed(entry.spec));
  }
  for (const [name, entry] of Object.entries(stored.losses)) await trying(name, () => lost(entry, client));
  for (const [name, { spec, reason, later }] of Object.entries(stored.hostile)) {
    const reads = later ? [client.confirmed] : [client.loss, client.prepared, client.confirmed];
    for (const read of reads) await trying(name, () => refused(read, spec, reason));
  }
  return failed;
}

/** @param {any} entry @param {Client} client */
function replay({ spec, values, words, reports }, { prepared, replayed }) {
  const mechanism = prepared(spec);
  const source = replayed(wordsOf(words));
  let memory;
  for (const [i, value] of values.entries()) {
    /** @type {any} */
    const drawn = mechanism.draw(value, source, memory);
    const report = mechanism.kind === "longitudinal" ? drawn.report : drawn;
    memory = structuredClone(drawn.memory);
    const made = hexOf(report);
    if (made !== reports[i]) return `report ${i} is ${made.slice(0, 80)}, not ${reports[i].slice(0, 80)}`;
    if (report.length !== mechanism.size) return `a report has ${report.length} bytes, not ${mechanism.size}`;
  }
  try {
    source.next();
    return "words are left over";
  } catch {
    return "";
  }
}

/** @param {any} entry @param {Client} client */
function lost({ spec, loss: due }, { loss }) {
  const found = loss(spec);
  for (const [name, number] of Object.entries(due)) {
    const exact = number ?? Infinity;
    // What a further answer adds is rounded up to one of the next two doubles, all else to the next.
    const good = found[name] === exact || (name === "fresh" && found.fresh > exact && found.fresh < exact * (1 + 2 ** -51));
    if (!good) return `${name} is ${found[name]}, not ${number}`;
  }
  return "";
}

/** @param {Function} read @param {any} spec @param {string} reason */
async function refused(read, spec, reason) {
  try {
    await read(spec);
  } catch (error) {
    const { name, message, parameter } = /** @type {any} */ (error);
    const whole = /^.+ must .+, got .+; .+$/s.test(message) && name === "HushError";
    return whole && reason.split("|").includes(parameter) ? "" : `refused, but with: ${message}`;
  }
  return "not refused";
}
