/** DIGEST-MD5 (RFC 2831) with a Hadoop token as name and password, as org.apache.hadoop.security.SaslRpcClient uses it. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AuthenticationError } from "../errors.ts";
import type { Token } from "../token.ts";
import { type DigestCipher, digestLayer } from "./digest-md5-layer.ts";
import type { AuthenticationStrategy, MechanismOffer, SaslMechanism, SecurityLayer } from "./mechanism.ts";

/** SASL's quality of protection: `hadoop.rpc.protection` authentication, integrity, privacy. */
export type Protection = "auth" | "auth-int" | "auth-conf";

/** Which of a server's offers we accept. */
export interface DigestOptions {
  /** Acceptable to us, best first. Absent: any, the strongest first, because a man in the middle may have reordered the server's list. */
  readonly protections?: readonly Protection[] | undefined;
  /** The same for `auth-conf`. Absent: rc4 (128 bits), 3des. */
  readonly ciphers?: readonly DigestCipher[] | undefined;
  /** The client's nonce; random when absent. */
  readonly nonce?: (() => string) | undefined;
}

const strongestFirst: readonly Protection[] = ["auth-conf", "auth-int", "auth"];
/** Single DES and keys of 40 and 56 bits can be broken in hours, so they are used only on request. */
const defaultCiphers: readonly DigestCipher[] = ["rc4", "3des"];
const defaultMaxBytes = 65_536;
const largestMaxBytes = 2 ** 24;
/** A layer's overhead must fit together with at least one byte of the message. */
const smallestMaxBytes = 32;
const nonceCount = "00000001";

/** The strategy for the method TOKEN. Name and password are the token's identifier and password in base64. */
export function tokenDigest(token: Token, options: DigestOptions = {}): AuthenticationStrategy {
  const name = Buffer.from(token.identifier).toString("base64");
  const password = Buffer.from(token.password).toString("base64");
  return {
    method: "TOKEN",
    mechanism: "DIGEST-MD5",
    start: (offer) => new DigestMd5({ name, password, offer, options }),
  };
}

interface DigestParameters {
  readonly name: string;
  readonly password: string;
  readonly offer: Pick<MechanismOffer, "protocol" | "serverId">;
  readonly options?: DigestOptions;
}

/** One exchange: a challenge, our response, the server's proof. */
export class DigestMd5 implements SaslMechanism {
  readonly #parameters: DigestParameters;
  #answered: { readonly proof: string; readonly layer: SecurityLayer | undefined } | undefined;

  constructor(parameters: DigestParameters) {
    this.#parameters = parameters;
  }

  respond(challenge: Uint8Array): Uint8Array {
    if (this.#answered !== undefined) throw new AuthenticationError("The server sent a second DIGEST-MD5 challenge");
    const { name, password, offer, options = {} } = this.#parameters;
    const directives = parseDirectives(challenge);
    const offeredProtections = directives.get("qop") ?? "auth";
    const protection = chosen("qop", offeredProtections, options.protections ?? strongestFirst);
    const cipher =
      protection === "auth-conf"
        ? chosen("cipher", required(directives, "cipher"), options.ciphers ?? defaultCiphers)
        : undefined;
    const realm = directives.get("realm") ?? "";
    const nonce = required(directives, "nonce");
    const clientNonce = options.nonce?.() ?? randomBytes(24).toString("base64");
    const uri = `${offer.protocol}/${offer.serverId}`;

    const hashA1 = md5(md5(`${name}:${realm}:${password}`), `:${nonce}:${clientNonce}`);
    const digest = (operation: string) => {
      const hashA2 = md5(`${operation}:${uri}${protection === "auth" ? "" : `:${"0".repeat(32)}`}`).toString("hex");
      const parts = [hashA1.toString("hex"), nonce, nonceCount, clientNonce, protection, hashA2];
      return md5(parts.join(":")).toString("hex");
    };
    const peerMaxBytes = maxBytes(directives);
    this.#answered = {
      proof: digest(""),
      layer: protection === "auth" ? undefined : digestLayer({ hashA1, cipher, peerMaxBytes }),
    };
    const response = [
      ...(directives.get("charset") === "utf-8" ? ["charset=utf-8"] : []),
      quotedDirective("username", name),
      quotedDirective("realm", realm),
      quotedDirective("nonce", nonce),
      `nc=${nonceCount}`,
      quotedDirective("cnonce", clientNonce),
      quotedDirective("digest-uri", uri),
      `maxbuf=${defaultMaxBytes}`,
      `response=${digest("AUTHENTICATE")}`,
      `qop=${protection}`,
      ...(cipher === undefined ? [] : [quotedDirective("cipher", cipher)]),
    ];
    return Buffer.from(response.join(","), "utf8");
  }

  complete(finalToken: Uint8Array): SecurityLayer | undefined {
    const proof = Buffer.from(parseDirectives(finalToken).get("rspauth") ?? "");
    const expected = Buffer.from(this.#answered?.proof ?? "");
    if (expected.length === 0 || proof.length !== expected.length || !timingSafeEqual(proof, expected)) {
      throw new AuthenticationError("The server could not prove that it knows the token's password");
    }
    return this.#answered?.layer;
  }
}

function chosen<Name extends string>(directive: string, offered: string, wanted: readonly Name[]): Name {
  const name = wanted.find((candidate) => names(offered).includes(candidate));
  if (name !== undefined) return name;
  throw new AuthenticationError(
    `The server offers ${directive} "${offered}"; this client accepts ${wanted.join(", ")}`,
  );
}

function names(list: string): readonly string[] {
  return list.split(",").map((name) => name.trim());
}

function required(directives: ReadonlyMap<string, string>, name: string): string {
  const value = directives.get(name);
  if (value === undefined) throw new AuthenticationError(`The server's DIGEST-MD5 challenge has no ${name}`);
  return value;
}

/** RFC 2831 §2.1.1: `maxbuf`, 65536 when absent. */
function maxBytes(directives: ReadonlyMap<string, string>): number {
  const value = Number(directives.get("maxbuf") ?? defaultMaxBytes);
  if (Number.isInteger(value) && value >= smallestMaxBytes && value < largestMaxBytes) return value;
  throw new AuthenticationError(`The server's DIGEST-MD5 challenge has maxbuf ${directives.get("maxbuf")}`);
}

function md5(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/**
 * The values, by name, of a list such as `realm="default",nonce="…",qop="auth,auth-int"` (RFC 2831 §7.1). A repeated directive (`realm`)
 * keeps its first value.
 * @throws AuthenticationError for anything else
 */
export function parseDirectives(bytes: Uint8Array): ReadonlyMap<string, string> {
  const text = Buffer.from(bytes).toString("utf8");
  const directive = /[\s,]*([\w-]+)\s*=(?:\s*"((?:[^"\\]|\\.)*)"|\s*([^\s,"]+)|)\s*(?=,|$)/gsy;
  const values = new Map<string, string>();
  let end = 0;
  for (const match of text.matchAll(directive)) {
    const [whole, name = "", quoted, plain = ""] = match;
    if (!values.has(name)) values.set(name, quoted === undefined ? plain : quoted.replace(/\\(.)/gs, "$1"));
    end += whole.length;
  }
  if (/[^\s,]/.test(text.slice(end))) {
    throw new AuthenticationError(`The server's DIGEST-MD5 message is malformed at character ${end}`);
  }
  return values;
}

/** Writes `name="value"` and escapes what has to be escaped. */
export function quotedDirective(name: string, value: string): string {
  return `${name}="${value.replace(/["\\]/g, "\\$&")}"`;
}
