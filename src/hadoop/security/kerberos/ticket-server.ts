import { DerTag, type DerValue, derContent, derValues } from "../tls/der.ts";

/** Tags of GSS-API's first token (RFC 2743 §3.1), of SPNEGO (RFC 4178 §4.2) and of Kerberos (RFC 4120 §5). */
const firstToken = 0x60;
const negotiationStart = 0xa0;
const mechanismToken = 0xa2;
const applicationRequest = 0x6e;
const ticketTag = 0x61;
/** Places in a sequence: AP-REQ's ticket, the ticket's `sname`, that one's parts. */
const ticketPlace = 3;
const namePlace = 2;
const partsPlace = 1;

/**
 * Whose ticket the first token of a negotiation shows: `HTTP/nn.example.com`, without its realm.
 * @throws RangeError for a token that has no Kerberos ticket
 */
export function ticketServer(token: Buffer): string {
  const [, negotiation] = derValues(inside(token, firstToken));
  if (negotiation?.tag !== negotiationStart) throw new RangeError("it is not a negotiation");
  const fields = sequence(negotiation.content);
  const mechanism = fields.findIndex(({ tag }) => tag === mechanismToken);
  const kerberos = derValues(inside(inside(derContent(fields, mechanism), DerTag.octets), firstToken));
  // The token's number (01 00) between the mechanism and the request reads as a value without content.
  const request = sequence(derContent(kerberos, 2, applicationRequest));
  const ticket = sequence(inside(derContent(request, ticketPlace), ticketTag));
  const name = sequence(derContent(ticket, namePlace));
  const parts = sequence(derContent(name, partsPlace));
  return parts.map(({ content }) => content.toString()).join("/");
}

function inside(bytes: Buffer, tag: number): Buffer {
  return derContent(derValues(bytes), 0, tag);
}

function sequence(bytes: Buffer): readonly DerValue[] {
  return derValues(inside(bytes, DerTag.sequence));
}
