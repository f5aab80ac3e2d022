import { errorMessage } from "../../errors.ts";
import { AuthenticationError } from "../errors.ts";
import {
  type GssApi,
  type GssContext,
  type GssCredential,
  GssError,
  type GssMechanism,
  type KeytabLogin,
} from "./gss-api.ts";
import {
  continueNeeded,
  GssFunctions,
  type Handle,
  type Held,
  libraryName,
  type NativeBuffer,
} from "./gss-functions.ts";
import type { Koffi } from "./koffi-package.ts";

/** The version that this code is written for. */
export const koffiVersion = "3.3.4";

/** Object identifiers in DER, without tag and length (RFC 4121 §4.1, RFC 4178 §3, RFC 2743 §4.1, RFC 1964 §2.1.1). */
const mechanisms = { krb5: oid("2a864886f712010202"), spnego: oid("2b0601050502") } as const;
const nameTypes = { hostBasedService: oid("2a864886f71201020104"), principal: oid("2a864886f71201020201") } as const;

/** GSS_C_MUTUAL_FLAG, REPLAY, SEQUENCE, CONF, INTEG: requested and required. */
const contextFlags = 2 | 4 | 8 | 16 | 32;
const initiateOnly = 1;
export const longestLife = 0xffff_ffff;
const defaultQuality = 0;

/**
 * GSS-API by this machine's Kerberos library.
 * @param load loads the package koffi; a program in a container has it at a different path
 * @throws AuthenticationError with code `KERBEROS_LIBRARY_MISSING`
 */
export async function loadGssApi(load?: () => Promise<Koffi>): Promise<GssApi> {
  return new LibGssApi(await loadGssFunctions(load));
}

/** The library's functions. @throws AuthenticationError as loadGssApi */
export async function loadGssFunctions(load: () => Promise<Koffi> = () => import("koffi")): Promise<GssFunctions> {
  const koffi = await load().catch((cause: unknown) => {
    throw missing("the optional npm package koffi", cause, `npm install -g koffi@${koffiVersion}`);
  });
  try {
    return new GssFunctions(koffi);
  } catch (cause) {
    throw missing(libraryName, cause, "apt-get install libgssapi-krb5-2 (Debian), dnf install krb5-libs (Red Hat)");
  }
}

class LibGssApi implements GssApi {
  readonly #functions: GssFunctions;

  constructor(functions: GssFunctions) {
    this.#functions = functions;
  }

  async acquire(login: KeytabLogin | undefined): Promise<GssCredential> {
    const { acquireCredential, inquireCredential } = this.#functions;
    const name = login === undefined ? undefined : importName(this.#functions, login.principal, "principal");
    const store = login === undefined ? null : storeOf(login);
    const credential: [Handle] = [0n];
    const wanted = [name ?? null, longestLife, null, initiateOnly, store, credential, null, null];
    await this.#functions.onThread(acquireCredential, wanted);
    const owner = this.#functions.held("credential", credential[0]);
    const owned: [Handle] = [0n];
    const seconds: [number] = [0];
    await this.#functions.onThread(inquireCredential, [owner, owned, seconds, null, null]);
    const principal = displayed(this.#functions, this.#functions.held("name", owned[0]));
    return new Credential(owner, principal, seconds[0]);
  }

  defaultRealm(): Promise<string> {
    return this.#realmOf("anyone", "principal");
  }

  async realmOf(host: string): Promise<string> {
    return (await this.#realmOf(`host@${host}`, "hostBasedService")) || (await this.defaultRealm());
  }

  initiate(credential: GssCredential, mechanism: GssMechanism, server: string): GssContext {
    if (!(credential instanceof Credential)) throw new GssError("The credential was not acquired here");
    const target = importName(this.#functions, server, "principal");
    return new Context(this.#functions, { credential, mechanism: mechanisms[mechanism], target });
  }

  async #realmOf(text: string, type: keyof typeof nameTypes): Promise<string> {
    const name = importName(this.#functions, text, type);
    const canonical: [Handle] = [0n];
    await this.#functions.onThread(this.#functions.canonicalizeName, [name, mechanisms.krb5, canonical]);
    const principal = displayed(this.#functions, this.#functions.held("name", canonical[0]));
    return principal.slice(principal.lastIndexOf("@") + 1);
  }
}

class Credential implements GssCredential {
  readonly held: Held;
  readonly principal: string;
  readonly remainingSeconds: number;

  constructor(held: Held, principal: string, remainingSeconds: number) {
    this.held = held;
    this.principal = principal;
    this.remainingSeconds = remainingSeconds;
  }
}

interface Initiation {
  readonly credential: Credential;
  readonly mechanism: Oid;
  readonly target: Held;
}

class Context implements GssContext {
  readonly #functions: GssFunctions;
  readonly #initiation: Initiation;
  #context: Held | undefined;

  constructor(functions: GssFunctions, initiation: Initiation) {
    this.#functions = functions;
    this.#initiation = initiation;
  }

  async step(token: Uint8Array): Promise<{ readonly token: Buffer; readonly done: boolean }> {
    const { initiateContext } = this.#functions;
    const { credential, mechanism, target } = this.#initiation;
    const context: [Handle] = [this.#context?.handle ?? 0n];
    const answer = {};
    const flags: [number] = [0];
    const asked = [credential.held, context, target, mechanism, contextFlags, 0, null, bufferOf(token)];
    const status = await this.#functions.onThread(
      initiateContext,
      [...asked, null, answer, flags, null],
      continueNeeded,
    );
    this.#context ??= this.#functions.held("context", context[0]);
    const done = status !== continueNeeded;
    if (done && (flags[0] & contextFlags) !== contextFlags) {
      throw new GssError(`The server does not do all that was asked: flags ${flags[0]} of ${contextFlags}`);
    }
    return { token: this.#functions.take(answer), done };
  }

  wrap(message: Uint8Array, confidential: boolean): Buffer {
    const wrapped = {};
    const encrypted: [number] = [0];
    const options = [confidential ? 1 : 0, defaultQuality, bufferOf(message)];
    this.#functions.run(this.#functions.wrap, [this.#context ?? null, ...options, encrypted, wrapped]);
    const token = this.#functions.take(wrapped);
    if (confidential && encrypted[0] === 0)
      throw new GssError("The library did not encrypt what was to be confidential");
    return token;
  }

  unwrap(token: Uint8Array): { readonly message: Buffer; readonly confidential: boolean } {
    const unwrapped = {};
    const encrypted: [number] = [0];
    this.#functions.run(this.#functions.unwrap, [this.#context ?? null, bufferOf(token), unwrapped, encrypted, null]);
    return { message: this.#functions.take(unwrapped), confidential: encrypted[0] !== 0 };
  }

  maxMessageBytes(tokenBytes: number, confidential: boolean): number {
    const most: [number] = [0];
    const options = [confidential ? 1 : 0, defaultQuality, tokenBytes];
    this.#functions.run(this.#functions.wrapSizeLimit, [this.#context ?? null, ...options, most]);
    return most[0];
  }
}

interface Oid {
  readonly length: number;
  readonly elements: Uint8Array;
}

function oid(der: string): Oid {
  const elements = Buffer.from(der, "hex");
  return { length: elements.length, elements };
}

export function bufferOf(bytes: Uint8Array): NativeBuffer {
  return { length: bytes.length, value: bytes.length === 0 ? null : bytes };
}

/** A keytab login keeps its tickets in memory: nothing is written to disk, and no other ticket is touched. */
function storeOf({ principal, keytab }: KeytabLogin) {
  const elements = [
    { key: "client_keytab", value: `FILE:${keytab}` },
    { key: "ccache", value: `MEMORY:${principal} ${keytab}` },
  ];
  return { count: elements.length, elements };
}

function importName(functions: GssFunctions, name: string, type: keyof typeof nameTypes): Held {
  const handle: [Handle] = [0n];
  functions.run(functions.importName, [bufferOf(Buffer.from(name)), nameTypes[type], handle]);
  return functions.held("name", handle[0]);
}

/** A name in the form that people write. */
export function displayed(functions: GssFunctions, name: Held): string {
  const text = {};
  functions.run(functions.displayName, [name, text, null]);
  return functions.take(text).toString();
}

function missing(what: string, cause: unknown, mend: string): AuthenticationError {
  return new AuthenticationError(`Kerberos needs ${what}, which cannot be loaded: ${errorMessage(cause)}\n  ${mend}`, {
    code: "KERBEROS_LIBRARY_MISSING",
    cause,
  });
}
