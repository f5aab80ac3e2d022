import { readFileSync } from "node:fs";

/** A ticket cache, as people name it. */
export interface TicketCache {
  /** `FILE:/tmp/krb5cc_1000`, and why it is that one. */
  readonly name: string;
  /** The principal whose tickets it contains: `alice@EXAMPLE.COM`; undefined if there are none, or it is not a file. */
  readonly principal: string | undefined;
}

/**
 * The cache in which the Kerberos library looks for tickets, for messages: the library itself says only that there are none. Without
 * `KRB5CCNAME` it is the library's default unless krb5.conf says otherwise.
 */
export function ticketCache(
  environment: Readonly<Record<string, string | undefined>>,
  uid: number = process.getuid?.() ?? 0,
): TicketCache {
  const named = environment.KRB5CCNAME;
  const cache = named || `FILE:/tmp/krb5cc_${uid}`;
  const why = named ? "KRB5CCNAME" : "the default, unless krb5.conf has default_ccache_name";
  const [, file] = /^(?:FILE:|(?=\/))(.+)$/.exec(cache) ?? [];
  return { name: `${cache} (${why})`, principal: file === undefined ? undefined : ownerOf(file) };
}

function ownerOf(file: string): string | undefined {
  try {
    return cachedPrincipal(readFileSync(file));
  } catch {
    return undefined;
  }
}

/**
 * The principal of a ticket cache; undefined for bytes that are not a cache.
 *
 *     0x0504 | header: length(2) | bytes | principal: type(4) | count(4) | realm | component × count      realm, component: length(4) | bytes
 *
 * Version 3 has no header. (MIT Kerberos, doc/formats/ccache_file_format.rst; earlier versions date from the 1990s.)
 */
export function cachedPrincipal(bytes: Uint8Array): string | undefined {
  const cache = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const version = cache.readUInt16BE(0);
    if (version !== 0x0504 && version !== 0x0503) return undefined;
    let offset = version === 0x0504 ? 4 + cache.readUInt16BE(2) : 2;
    const count = cache.readUInt32BE(offset + 4);
    offset += 8;
    const texts: string[] = [];
    for (let index = 0; index <= count; index += 1) {
      const end = offset + 4 + cache.readUInt32BE(offset);
      if (end > cache.length) return undefined;
      texts.push(cache.toString("utf8", offset + 4, end));
      offset = end;
    }
    const [realm, ...components] = texts;
    return `${components.join("/")}@${realm}`;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
