/**
 * Where accounts, kept answers and what waits are: one document, which a change either replaces whole, on the disk, or
 * leaves as it was.
 *
 * In a page it is in IndexedDB. A transaction that reads and writes has the store to itself, in all tabs, and is done
 * only once the disk has it (`durability: "strict"`). Reading makes nothing.
 */

import { nothing } from "./book.js";
import { must } from "./errors.js";

/** @typedef {import("./book.js").State} State */

/**
 * @typedef {object} Store
 * @property {() => Promise<any>} read What is kept; undefined for nothing yet.
 * @property {(change: (state: any) => any) => Promise<void>} update Replace it by what `change` makes of it, in one step
 *   that no other comes into, and that is on the disk when it is done; where `change` throws, change nothing.
 */

const NAME = "hush";

/**
 * Do something with IndexedDB; undefined where there is nothing in it, and nothing is to be made.
 *
 * @param {((state: any) => any) | null | undefined} change
 * @returns {Promise<any>}
 */
const indexed = (change) =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open(NAME, 1);
    opening.onupgradeneeded = () => {
      if (change) opening.result.createObjectStore(NAME);
      else {
        change = null; // for there is none
        opening.transaction?.abort();
      }
    };
    opening.onerror = () => (change === null ? resolve(undefined) : reject(opening.error));
    opening.onsuccess = () => {
      const db = opening.result;
      const whole = db.transaction(NAME, change ? "readwrite" : "readonly", { durability: "strict" });
      const kept = whole.objectStore(NAME);
      const asked = kept.get(NAME);
      /** @type {unknown} */
      let why;
      asked.onsuccess = () => {
        try {
          if (change) kept.put(change(asked.result), NAME);
        } catch (error) {
          why = error;
          whole.abort();
        }
      };
      whole.oncomplete = () => resolve(asked.result);
      whole.onabort = () => reject(why ?? whole.error);
      db.close(); // once that is done
    };
  });

/**
 * A store whose failures are told in words; whatever fails, nothing is spent.
 *
 * @param {Store} [store] Left out, IndexedDB.
 */
export function kept(store) {
  /** @template T @param {Promise<T>} work @returns {Promise<T>} */
  const told = (work) =>
    work.catch((error) => {
      must(!(error instanceof DOMException), "storage", "have room", error.name, "nothing was spent");
      throw error;
    });
  return {
    /** @returns {Promise<State>} */
    read: async () => (await told(store ? store.read() : indexed(undefined))) ?? nothing(),
    /** What it is after a change, and what that gave. @template T @param {(state: State) => T} change @returns {Promise<[State, T]>} */
    update: async (change) => {
      /** @type {any} */
      let made;
      const changing = (state = nothing()) => {
        made = [state, change(state)];
        return state;
      };
      await told(store ? store.update(changing) : indexed(changing));
      return made;
    },
  };
}

/** @typedef {ReturnType<typeof kept>} Kept */
