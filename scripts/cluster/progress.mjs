/**
 * Says what is going on, one line for each step that is done: `✓ cluster  11 s  …`. On a terminal the line is there
 * from the step's start and its seconds count.
 * @param {NodeJS.WriteStream} stream
 */
export function progressTo(stream) {
  return {
    /**
     * @param {string} label
     * @param {() => Promise<string>} work resolves with what the line ends with
     */
    async step(label, work) {
      const started = performance.now();
      const line = (mark, detail) => `  ${mark} ${label.padEnd(14)} ${seconds(started).padStart(6)}  ${detail}`;
      const redraw = () => stream.write(`\r\x1b[K${line("…", "")}`);
      const ticker = stream.isTTY ? setInterval(redraw, 500) : undefined;
      try {
        const detail = await work();
        stream.write(`${stream.isTTY ? "\r\x1b[K" : ""}${line("✓", detail)}\n`);
      } catch (error) {
        stream.write(`${stream.isTTY ? "\r\x1b[K" : ""}${line("✗", "")}\n`);
        throw error;
      } finally {
        clearInterval(ticker);
      }
    },
  };
}

const seconds = (started) => `${((performance.now() - started) / 1000).toFixed(1)} s`;
