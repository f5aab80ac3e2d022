import type { Koffi, NativeFunction } from "../../src/hadoop/security/kerberos/koffi-package.ts";

/** A C function: it is handed what koffi would hand on, and puts into arrays and objects what it gives. @returns its status */
export type StandInFunction = (...parameters: readonly unknown[]) => number;

/** What a library gives into a `gss_buffer_desc`. */
interface OutBuffer {
  length?: bigint;
  value?: bigint;
}

/** Is given what ends a call on another thread, which returns when that is called. */
export type StandInThreads = (end: () => void) => unknown;

/** koffi with a library whose functions are JavaScript. Those that are not given answer 0 and give nothing. */
export class StandInKoffi implements Koffi {
  /** The functions that were called, in their order. */
  readonly called: string[] = [];
  readonly #functions: Readonly<Record<string, StandInFunction>>;
  readonly #threads: StandInThreads;
  readonly #memory = new Map<bigint, Uint8Array>();

  constructor(functions: Readonly<Record<string, StandInFunction>>, threads: StandInThreads = queueMicrotask) {
    this.#functions = functions;
    this.#threads = threads;
  }

  /** Gives a text as the library would. */
  give(buffer: unknown, text: string): void {
    const bytes = Buffer.from(text);
    const value = BigInt(this.#memory.size + 1);
    this.#memory.set(value, bytes);
    const given: OutBuffer = { length: BigInt(bytes.length), value };
    if (typeof buffer === "object" && buffer !== null) Object.assign(buffer, given);
  }

  load(): { readonly func: (name: string) => NativeFunction } {
    return { func: (name) => this.#function(name) };
  }

  struct() {
    return { name: "struct" };
  }

  pointer() {
    return { name: "pointer" };
  }

  out() {
    return { name: "out" };
  }

  inout() {
    return { name: "inout" };
  }

  view(pointer: bigint, lengthBytes: number): ArrayBuffer {
    const bytes = this.#memory.get(pointer) ?? new Uint8Array();
    return new Uint8Array(bytes.subarray(0, lengthBytes)).buffer;
  }

  #function(name: string): NativeFunction {
    const call: StandInFunction = (...parameters) => {
      this.called.push(name);
      return this.#functions[name]?.(...parameters) ?? 0;
    };
    const async = (...parameters: readonly unknown[]) => {
      const told = parameters.at(-1);
      const status = call(...parameters.slice(0, -1));
      this.#threads(() => {
        if (typeof told === "function") told(null, status);
      });
    };
    return Object.assign(call, { async });
  }
}
