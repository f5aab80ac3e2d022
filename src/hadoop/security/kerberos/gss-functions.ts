/** The C functions of MIT Kerberos' libgssapi_krb5 (RFC 2744, gssapi_ext.h), called through koffi, which needs no compiler to be installed. */
import { errorMessage } from "../../errors.ts";
import { GssError } from "./gss-api.ts";
import type { Koffi, NativeFunction, Type } from "./koffi-package.ts";

/** An object of the library. */
export type Handle = bigint;

/** A library object that lives as long as this wrapper. The wrapper itself is passed to calls, which keep it alive until they return. */
export class Held {
  readonly handle: Handle;

  constructor(handle: Handle) {
    this.handle = handle;
  }
}

/** Arguments of a call: never a bare handle, so that every call on an object also passes the wrapper that keeps it alive. */
type Parameters = readonly (object | number | null)[];

/** A C `gss_buffer_desc`. */
export interface NativeBuffer {
  readonly length: number | bigint;
  readonly value: Handle | Uint8Array | null;
}

export const libraryName = "libgssapi_krb5.so.2";

/** The status of an unfinished exchange. Others are failures, including those that report a repeated or reordered message. */
export const continueNeeded = 1;

/** Kinds of text that `gss_display_status` gives. */
const statusText = { major: 1, minor: 2 } as const;

/** Loads the library; throws what koffi throws. */
export class GssFunctions {
  readonly importName: NativeFunction;
  readonly canonicalizeName: NativeFunction;
  readonly displayName: NativeFunction;
  readonly acquireCredential: NativeFunction;
  readonly inquireCredential: NativeFunction;
  readonly initiateContext: NativeFunction;
  readonly acceptContext: NativeFunction;
  readonly wrap: NativeFunction;
  readonly unwrap: NativeFunction;
  readonly wrapSizeLimit: NativeFunction;
  readonly #releaseName: NativeFunction;
  readonly #releaseCredential: NativeFunction;
  readonly #deleteContext: NativeFunction;
  readonly #releaseBuffer: NativeFunction;
  readonly #displayStatus: NativeFunction;
  readonly #koffi: Koffi;
  readonly #collected = new FinalizationRegistry((free: () => void) => free());

  constructor(koffi: Koffi) {
    const { pointer, out, inout, struct } = koffi;
    const library = koffi.load(libraryName);
    const number = "uint32_t";
    const handle = "void *";
    const buffer = pointer(struct({ length: "size_t", value: handle }));
    const oid = pointer(struct({ length: number, elements: handle }));
    const store = pointer(struct({ count: number, elements: pointer(struct({ key: "str", value: "str" })) }));
    const minor = out(pointer(number));
    const bufferOut = out(buffer);
    const numberOut = out(pointer(number));
    const intOut = out(pointer("int"));
    const handleOut = out(pointer(handle));
    const handleInOut = inout(pointer(handle));
    /** All of them return the major status, and the minor one through their first parameter. */
    const define = (name: string, ...parameters: (Type | string)[]) =>
      library.func(`gss_${name}`, number, [minor, ...parameters]);

    this.#koffi = koffi;
    this.importName = define("import_name", buffer, oid, handleOut);
    this.canonicalizeName = define("canonicalize_name", handle, oid, handleOut);
    this.displayName = define("display_name", handle, bufferOut, handle);
    const wanted = [handle, number, handle, "int", store];
    this.acquireCredential = define("acquire_cred_from", ...wanted, handleOut, handle, handle);
    this.inquireCredential = define("inquire_cred", handle, handleOut, numberOut, handle, handle);
    const asked = [handle, handleInOut, handle, oid, number, number, handle, buffer];
    this.initiateContext = define("init_sec_context", ...asked, handle, bufferOut, numberOut, handle);
    const given = [handleInOut, handle, buffer, handle, handleOut, handle, bufferOut];
    this.acceptContext = define("accept_sec_context", ...given, handle, handle, handle);
    this.wrap = define("wrap", handle, "int", number, buffer, intOut, bufferOut);
    this.unwrap = define("unwrap", handle, buffer, bufferOut, intOut, handle);
    this.wrapSizeLimit = define("wrap_size_limit", handle, "int", number, number, numberOut);
    this.#releaseName = define("release_name", handleInOut);
    this.#releaseCredential = define("release_cred", handleInOut);
    this.#deleteContext = define("delete_sec_context", handleInOut, handle);
    this.#releaseBuffer = define("release_buffer", buffer);
    this.#displayStatus = define("display_status", number, "int", handle, inout(pointer(number)), bufferOut);
  }

  /** Wraps a library object and frees it when the wrapper is collected. */
  held(kind: "name" | "credential" | "context", handle: Handle): Held {
    const held = new Held(handle);
    const free = {
      name: () => this.#releaseName([0], [handle]),
      credential: () => this.#releaseCredential([0], [handle]),
      context: () => this.#deleteContext([0], [handle], null),
    }[kind];
    this.#collected.register(held, free);
    return held;
  }

  /**
   * Calls a function. The first parameter is added here, and wrapped objects are passed by their handles.
   * @returns its status: 0, or `allowed`
   * @throws GssError with the library's message for any other
   */
  run(call: NativeFunction, parameters: Parameters, allowed = 0): number {
    const minor: [number] = [0];
    return this.#checked(call(minor, ...parameters.map(passed)), minor, allowed);
  }

  /** The same on another thread, for calls that read files and may contact a KDC. */
  onThread(call: NativeFunction, parameters: Parameters, allowed = 0): Promise<number> {
    const minor: [number] = [0];
    return new Promise((resolve, reject) => {
      call.async(minor, ...parameters.map(passed), (error: unknown, status: number) => {
        try {
          // Referring to `parameters` here keeps the memory and the wrapped objects that the library uses from being collected meanwhile.
          if (error) throw new GssError(`A call with ${parameters.length} parameters failed: ${errorMessage(error)}`);
          resolve(this.#checked(status, minor, allowed));
        } catch (cause) {
          reject(cause);
        }
      });
    });
  }

  /** Copies a buffer of the library, which may then release it. */
  take(buffer: Partial<NativeBuffer>): Buffer {
    const { length = 0, value } = buffer;
    if (typeof value !== "bigint") return Buffer.alloc(0);
    const bytes = Buffer.from(new Uint8Array(this.#koffi.view(value, Number(length))));
    this.#releaseBuffer([0], buffer);
    return bytes;
  }

  #checked(status: number, [minor]: readonly [number], allowed: number): number {
    if (status === 0 || status === allowed) return status;
    const words = [this.#words(status, statusText.major), minor === 0 ? "" : this.#words(minor, statusText.minor)];
    throw new GssError(words.filter((text) => text !== "" && text !== "Success").join(": "));
  }

  #words(status: number, kind: number): string {
    const words = {};
    this.#displayStatus([0], status, kind, null, [0], words);
    return this.take(words).toString();
  }
}

function passed(parameter: unknown): unknown {
  return parameter instanceof Held ? parameter.handle : parameter;
}
