import { TestEnvironment } from "jest-environment-node";

/**
 * Errors of Node's own modules are made outside Jest's sandbox; handing it the outer classes keeps `instanceof` true.
 * Of a test that fails, all that `tony-ts` said in it is told.
 */
export default class HostClassesEnvironment extends TestEnvironment {
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

  /** Jest calls it at each step of its way through a file. */
  async handleTestEvent({ name, test }) {
    if (name !== "test_done") return;
    const { clientRuns } = this.global;
    const told = test.errors.length > 0 ? await clientRuns?.tell() : undefined;
    clientRuns?.forget();
    if (told) test.errors.push(Object.assign(new Error(), { stack: `Said in this test:\n${told}` }));
  }
}
