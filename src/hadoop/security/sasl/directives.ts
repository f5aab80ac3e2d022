/** Directive lists of DIGEST-MD5: `realm="default",nonce="…",qop="auth,auth-int"` (RFC 2831 §7.1). */
import { AuthenticationError } from "../errors.ts";

/** Values by name; a repeated directive (`realm`) keeps its first value. Throws AuthenticationError for anything else. */
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

/** Writes `name="value"`, quoting what must be quoted. */
export function quotedDirective(name: string, value: string): string {
  return `${name}="${value.replace(/["\\]/g, "\\$&")}"`;
}
