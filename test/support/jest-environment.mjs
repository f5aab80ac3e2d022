import { AsyncLocalStorage } from "node:async_hooks";
import { TestEnvironment } from "jest-environment-node";

/**
 * Jest gives each file an AsyncLocalStorage of its own and leaves it enabled at the end. Before Node 24 every new promise visits each
 * enabled one and keeps what it holds: the promises of the last file would visit those of all files before.
 * @type {Set<AsyncLocalStorage<unknown>>}
 */
const storagesInUse = new Set();
const { run } = AsyncLocalStorage.prototype;
/** @param {unknown} store @param {(...args: unknown[]) => unknown} callback @param {unknown[]} args */
AsyncLocalStorage.prototype.run = function (store, callback, ...args) {
  storagesInUse.add(this);
  return run.call(this, store, callback, ...args);
};

/**
 * test/support/client-runs.ts, where a test has it.
 * @typedef {{ tell(): Promise<string>, forget(): void }} ClientRuns
 */

/**
 * Errors of Node's own modules are made outside Jest's sandbox; handing it the outer classes keeps `instanceof` true. When a test fails,
 * everything that `tony-ts` printed in it is shown. With `--bail` it is the last test of its file that runs.
 */
export default class HostClassesEnvironment extends TestEnvironment {
  #bails;
  #failed = false;

  /**
   * @param {import("@jest/environment").JestEnvironmentConfig} config
   * @param {import("@jest/environment").EnvironmentContext} context
   */
  constructor(config, context) {
    super(config, context);
    this.#bails = config.globalConfig.bail > 0;
  }

  /** @override */
  async setup() {
    await super.setup();
    Object.assign(this.global, {
      Error,
      TypeError,
      RangeError,
      SyntaxError,
      Map,
      Set,
      Uint8Array,
      ArrayBuffer,
      Promise,
    });
  }

  /** Jest calls this at each step of its way through a file. @param {import("@jest/types").Circus.Event} event */
  async handleTestEvent(event) {
    if (event.name === "test_start" && this.#bails && this.#failed) event.test.mode = "skip";
    if (event.name !== "test_done") return;
    const { test } = event;
    this.#failed ||= test.errors.length > 0;
    const clientRuns = /** @type {ClientRuns | undefined} */ (this.global.clientRuns);
    const told = test.errors.length > 0 ? await clientRuns?.tell() : undefined;
    clientRuns?.forget();
    if (told) test.errors.push(Object.assign(new Error(), { stack: `Said in this test:\n${told}` }));
  }

  /** @override */
  async teardown() {
    for (const storage of storagesInUse) storage.disable();
    storagesInUse.clear();
    await super.teardown();
  }
}
