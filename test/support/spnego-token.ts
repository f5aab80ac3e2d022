function der(tag: number, ...contents: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(contents.map((part) => Buffer.from(part)));
  if (content.length > 0xffff) throw new Error("longer than it is written here");
  return Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 0xff]), content]);
}

/** The first token of a negotiation, as MIT Kerberos writes it (RFC 4178, RFC 4121, RFC 4120). */
export function firstToken(...server: readonly string[]): Buffer {
  const sequence = (...fields: readonly Buffer[]) => der(0x30, ...fields.map((field, at) => der(0xa0 + at, field)));
  const number = (value: number) => Buffer.from([2, 1, value]);
  const name = sequence(number(3), der(0x30, ...server.map((part) => der(0x1b, part))));
  const ticket = der(0x61, sequence(number(5), der(0x1b, "EXAMPLE.COM"), name, sequence(number(18))));
  const request = der(0x6e, sequence(number(5), number(14), der(3, "....."), ticket, sequence(number(18))));
  const kerberos = der(0x60, der(6, Buffer.from("2a864886f712010202", "hex")), Buffer.from([1, 0]), request);
  const fields = [der(0xa0, der(0x30, der(6, "krb5"))), der(0xa2, der(4, kerberos))];
  return der(0x60, der(6, "spnego"), der(0xa0, der(0x30, ...fields)));
}
