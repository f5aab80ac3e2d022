/** What is wrong with text that is not XML, and in which line. */
export interface XmlMistake {
  readonly message: string;
  /** From 1. */
  readonly line: number;
}

/** A tag with the line in which it was opened. */
export interface OpenedTag {
  readonly name: string;
  readonly line: number;
}

/** Comments, CDATA and processing instructions, where any character may stand, and an `&` that begins no reference. */
const STRAY_AMPERSAND =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|&(?!(?:[A-Za-z_:][\w.:-]*|#\d+|#x[\da-fA-F]+);)/g;

const AMPERSAND_HINT = "write &amp;, so && is &amp;&amp;";

/** What is most often meant where saxes says this. */
const HINTS: Readonly<Record<string, string>> = {
  "undefined entity.": `undefined entity; where an & is meant ${AMPERSAND_HINT}`,
  "disallowed character in tag name": "disallowed character in tag name; where a < is meant write &lt;",
};

/**
 * A parser's complaint in words for the person who wrote the file. A parser reads on after a bare `&`, for the name of an entity and
 * its `;`, and complains far below it or of something else: so it is looked for first.
 * @param complaint the first one, as saxes words it
 * @param line where the parser had got to
 * @param unclosed the tag that stands open where another one's end, or the file's, has come
 */
export function explainXmlMistake(text: string, complaint: string, line: number, unclosed?: OpenedTag): XmlMistake {
  const read = text.split("\n").slice(0, line).join("\n");
  for (const { 0: found, index } of read.matchAll(STRAY_AMPERSAND)) {
    if (found === "&") {
      const message = `a bare & is not allowed in XML: ${AMPERSAND_HINT}`;
      return { message, line: read.slice(0, index).split("\n").length };
    }
  }
  // saxes puts `line:column: ` in front; the line is said once, as file:line.
  const said = complaint.replace(/^\d+:\d+: /, "");
  const declared = said === "undefined entity." ? declaredEntity(read) : undefined;
  if (declared !== undefined) {
    const message = `the entities of a DOCTYPE are not read: write what &${declared}; stands for in its place`;
    return { message, line };
  }
  if (unclosed !== undefined && /^(unexpected close tag|unclosed tag)/.test(said)) {
    const { name, line: opened } = unclosed;
    return {
      message: `not well-formed XML: <${name}> is opened here and has no </${name}> up to line ${line}`,
      line: opened,
    };
  }
  return { message: `not well-formed XML: ${HINTS[said] ?? said}`, line };
}

/** The last entity of the text, which is the one complained of, where the DOCTYPE declares it. */
function declaredEntity(read: string): string | undefined {
  const [, doctype = ""] = /<!DOCTYPE([\s\S]*?\])\s*>/.exec(read) ?? [];
  const declared = new Set([...doctype.matchAll(/<!ENTITY\s+([A-Za-z_:][\w.:-]*)\s/g)].map(([, name]) => name));
  const used = [...read.slice(read.indexOf(doctype) + doctype.length).matchAll(/&([A-Za-z_:][\w.:-]*);/g)];
  return used.map(([, name]) => name).findLast((name) => declared.has(name));
}
