/**
 * @typedef {import("./phase.mjs").Phase} Phase
 * @typedef {import("./run-phase.mjs").PhaseResult} PhaseResult
 */

/**
 * Runs phases concurrently. A phase begins when the phases that it needs have passed and its share of the machine is free; of several, the first in
 * the list. A background phase takes no share. A phase whose requirement failed counts as failed itself, with the original reason: nothing is skipped
 * silently. A phase that ends something waits until no phase needs that any more, and runs whatever happened.
 * @param {readonly Phase[]} phases
 * @param {object} options
 * @param {number} options.cores of the machine
 * @param {(phase: Phase) => Promise<PhaseResult>} options.run
 * @param {(phase: Phase) => string | undefined} options.refusal why it may not begin, if so
 * @param {(phase: Phase, result: PhaseResult) => void} options.ended called once for each phase
 * @returns {Promise<void>} when every phase has ended
 */
export async function runSideBySide(phases, { cores, run, refusal: refusalOf, ended }) {
  const waiting = new Set(phases);
  /** @type {Map<Phase, Promise<void>>} */
  const running = new Map();
  const begun = new Set();
  /** The reason of each failed phase, by name. */
  const failed = /** @type {Map<string, string>} */ (new Map());

  /** @param {string} name */
  const isOver = (name) => ![...waiting, ...running.keys()].some((phase) => phase.name === name);
  /** @param {string} name */
  const isUnused = (name) => isOver(name) && phases.every((phase) => !phase.needs.includes(name) || isOver(phase.name));
  /** @param {Phase} phase */
  const hasRoom = ({ cores: share, background = false }) => {
    const beside = [...running.keys()].filter((phase) => background === (phase.background ?? false));
    const busy = beside.reduce((sum, phase) => sum + phase.cores, 0);
    return beside.length === 0 || (!background && busy + share <= cores);
  };
  /** @param {Phase} phase @param {PhaseResult} result */
  const end = (phase, result) => {
    running.delete(phase);
    if (result.failed > 0) failed.set(phase.name, result.notRun ?? reasonOf(phase, result));
    ended(phase, result);
  };
  /** @param {Phase} phase */
  const begin = (phase) => {
    waiting.delete(phase);
    begun.add(phase.name);
    running.set(
      phase,
      run(phase).then((result) => end(phase, result)),
    );
  };
  /** @param {Phase} phase @returns {boolean} whether anything changed */
  const consider = (phase) => {
    if (phase.endsWhatBegan !== undefined) {
      if (!isUnused(phase.endsWhatBegan)) return false;
      if (begun.has(phase.endsWhatBegan)) begin(phase);
      else waiting.delete(phase);
      return true;
    }
    const missing = phase.needs.find((name) => failed.has(name));
    const refusal = missing === undefined ? refusalOf(phase) : failed.get(missing);
    if (refusal !== undefined) {
      waiting.delete(phase);
      end(phase, notRun(refusal));
      return true;
    }
    if (![...phase.needs, ...(phase.after ?? [])].every(isOver) || !hasRoom(phase)) return false;
    begin(phase);
    return true;
  };

  for (;;) {
    while ([...waiting].some(consider));
    if (running.size === 0) return;
    await Promise.race(running.values());
  }
}

/**
 * The reason for phases that need it.
 * @param {Phase} phase
 * @param {PhaseResult} result
 */
function reasonOf({ name, prepares }, { output }) {
  const lastLine = prepares ? output.trimEnd().split("\n").at(-1)?.trim() : "";
  return [`${name} failed`, lastLine].filter((words) => words !== "").join(": ");
}

/** @param {string} why @returns {PhaseResult} */
function notRun(why) {
  return { passed: 0, failed: 1, seconds: 0, output: `not run: ${why}`, notRun: why };
}
