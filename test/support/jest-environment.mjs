import { TestEnvironment } from "jest-environment-node";

/** Errors of Node's own modules are made outside Jest's sandbox; handing it the outer classes keeps `instanceof` true. */
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
}
