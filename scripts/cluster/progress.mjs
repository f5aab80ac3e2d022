/**
 * Shows progress, with one line for each completed step: `✓ cluster  11 s  …`. On a terminal the running steps, of which there may be
 * several, are shown below with their seconds.
 * @param {NodeJS.WriteStream} stream
 */
export function progressTo(stream) {
  /** The start time of each step, by label. @type {Map<string, number>} */
  const running = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  let ticker;
  const clear = () => stream.write("\r\x1b[K");
  const redraw = () => {
    clear();
    stream.write([...running].map(([label, started]) => `  … ${label}  ${seconds(started)}`).join(""));
  };
  const begin = (/** @type {string} */ label) => {
    running.set(label, performance.now());
    if (stream.isTTY) ticker ??= setInterval(redraw, 500);
  };
  const end = (/** @type {string} */ label, /** @type {string} */ mark, /** @type {string} */ detail) => {
    const started = running.get(label) ?? performance.now();
    running.delete(label);
    if (running.size === 0) {
      clearInterval(ticker);
      ticker = undefined;
    }
    if (stream.isTTY) clear();
    stream.write(`  ${mark} ${label.padEnd(15)} ${seconds(started).padStart(6)}  ${detail}`.trimEnd().concat("\n"));
  };
  return {
    /**
     * @param {string} label
     * @param {() => Promise<string>} work resolves with the end of the line
     */
    async step(label, work) {
      begin(label);
      try {
        end(label, "✓", await work());
      } catch (error) {
        end(label, "✗", "");
        throw error;
      }
    },
  };
}

/** @param {number} started */
const seconds = (started) => `${((performance.now() - started) / 1000).toFixed(1)} s`;
