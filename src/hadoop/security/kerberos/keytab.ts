/**
 * The principals whose keys a keytab contains, each once; undefined for bytes that are not a keytab.
 *
 *     0x0502 | { size(4) | count(2) | realm | component × count | type(4) | … }      realm, component: length(2) | bytes
 *
 * A negative size is a hole of that many bytes. (MIT Kerberos, doc/formats/keytab_file_format.rst; version 1 dates from the 1990s.)
 */
export function keytabPrincipals(bytes: Uint8Array): readonly string[] | undefined {
  const keytab = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const principals = new Set<string>();
  try {
    if (keytab.readUInt16BE(0) !== version) return undefined;
    for (let offset = versionBytes; offset + sizeBytes <= keytab.length; ) {
      const size = keytab.readInt32BE(offset);
      if (size === 0) break;
      offset += sizeBytes;
      if (size > 0) principals.add(principalOf(keytab.subarray(offset, offset + size)));
      offset += Math.abs(size);
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return [...principals];
}

const version = 0x0502;
const versionBytes = 2;
const sizeBytes = 4;
const lengthBytes = 2;

function principalOf(entry: Buffer): string {
  const count = entry.readUInt16BE(0);
  const texts: string[] = [];
  let offset = lengthBytes;
  for (let index = 0; index <= count; index += 1) {
    const end = offset + lengthBytes + entry.readUInt16BE(offset);
    texts.push(entry.toString("utf8", offset + lengthBytes, end));
    offset = end;
  }
  const [realm, ...components] = texts;
  return `${components.join("/")}@${realm}`;
}
