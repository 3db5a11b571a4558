/** What is refused, in words: the parameter, the rule, what came instead, and the remedy. */

export class HushError extends Error {
  /**
   * @param {string} parameter What breaks a rule.
   * @param {string} rule What it must do or be.
   * @param {unknown} got What came instead; never what a person answered.
   * @param {string} remedy What to do.
   */
  constructor(parameter, rule, got, remedy) {
    super(`${parameter} must ${rule}, got ${got}; ${remedy}`);
    this.name = "HushError";
    this.parameter = parameter;
  }
}

/**
 * Refuse what breaks a rule.
 *
 * @param {unknown} right Whether it is kept.
 * @param {string} parameter
 * @param {string} rule
 * @param {unknown} got
 * @param {string} remedy
 * @returns {asserts right}
 */
export function must(right, parameter, rule, got, remedy) {
  if (!right) throw new HushError(parameter, rule, got, remedy);
}

/** What to do about a server that is not to be believed. */
export const LEAVE = "report nothing to it";
