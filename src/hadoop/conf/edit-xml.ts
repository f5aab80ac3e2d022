import { SaxesParser } from "saxes";
import { escapeXml, propertyXml } from "./write-xml.ts";
import { localName, parseProperties } from "./xml.ts";

/** Where a property lies in the text, and where its value does. */
interface Place {
  readonly from: number;
  name: string | undefined;
  /** The span between the two offsets, and what has to surround a new value there. */
  value: { readonly from: number; readonly to: number; readonly around: readonly [string, string] } | undefined;
}

/**
 * The text of a configuration file with new values for some properties. Everything else stays as it is, including comments and layout. A
 * property that the file lacks, or has where it does not count, is added at the end.
 * @throws ConfigurationError naming file and line
 */
export function withValues(text: string, file: string, values: ReadonlyMap<string, string>): string {
  parseProperties(text, file);
  let edited = text;
  for (const [name, value] of values) {
    const place = placesOf(edited).places.findLast((one) => one.name === name);
    if (place?.value !== undefined) edited = put(edited, place.value, value);
    const counts = parseProperties(edited, file).findLast((one) => one.name === name)?.value;
    if (counts !== value) edited = added(edited, name, value);
  }
  return edited;
}

function put(text: string, { from, to, around: [before, after] }: NonNullable<Place["value"]>, value: string): string {
  return text.slice(0, from) + before + escapeXml(value) + after + text.slice(to);
}

function added(text: string, name: string, value: string): string {
  const { places, end } = placesOf(text);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const [, indent = "  "] = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, places[0]?.from ?? 0)) ?? [];
  return `${text.slice(0, end)}${indent || "  "}${propertyXml({ name, value })}${lineEnd}${text.slice(end)}`;
}

/**
 * The properties of the text itself, without included files, and the end of its last element. The text has been parsed before, so it is
 * well-formed.
 */
function placesOf(text: string): { readonly places: readonly Place[]; readonly end: number } {
  const places: Place[] = [];
  let end = text.length;
  const parser = new SaxesParser();
  let [place, valueFrom, nameText]: [Place | undefined, number, string | undefined] = [undefined, 0, undefined];
  parser.on("opentag", ({ name, attributes, isSelfClosing }) => {
    const [from, to] = [text.lastIndexOf("<", parser.position - 1), parser.position];
    if (localName(name) === "property")
      place = { name: attributes.name, from, value: attributeValue(text.slice(from, to), from) };
    if (place === undefined) return;
    if (localName(name) === "name") nameText = "";
    if (localName(name) !== "value") return;
    valueFrom = to;
    if (isSelfClosing) place.value = { from, to, around: ["<value>", "</value>"] };
  });
  const append = (piece: string) => {
    if (nameText !== undefined) nameText += piece;
  };
  parser.on("text", append);
  parser.on("cdata", append);
  parser.on("closetag", ({ name, isSelfClosing }) => {
    const from = text.lastIndexOf("</", parser.position - 1);
    end = from;
    if (place === undefined) return;
    if (localName(name) === "value" && !isSelfClosing) place.value = { from: valueFrom, to: from, around: ["", ""] };
    if (localName(name) === "name") [place.name, nameText] = [nameText?.trim(), undefined];
    if (localName(name) !== "property") return;
    places.push(place);
    place = undefined;
  });
  parser.write(text).close();
  return { places, end };
}

/** The value's place in `<property name="…" value="…">`. */
function attributeValue(tag: string, tagFrom: number): Place["value"] {
  const found = /\svalue\s*=\s*("[^"]*"|'[^']*')/.exec(tag);
  const quoted = found?.[1];
  if (found === null || quoted === undefined) return undefined;
  const to = tagFrom + found.index + found[0].length;
  return { from: to - quoted.length, to, around: ['"', '"'] };
}
