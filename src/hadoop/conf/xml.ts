import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SaxesParser } from "saxes";
import { errorCode, errorMessage, isNotThere } from "../errors.ts";
import { ConfigurationError, type SourceLocation } from "./errors.ts";
import { decodeXml } from "./xml-encoding.ts";

/** What is wrong with text that is not well-formed XML, and on which line. */
interface XmlMistake {
  readonly message: string;
  /** From 1. */
  readonly line: number;
}

/** A tag with the line on which it was opened. */
interface OpenedTag {
  readonly name: string;
  readonly line: number;
}

/** Comments, CDATA and processing instructions, in which any character may occur, or an `&` that does not begin a reference. */
const STRAY_AMPERSAND =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|&(?!(?:[A-Za-z_:][\w.:-]*|#\d+|#x[\da-fA-F]+);)/g;

const AMPERSAND_HINT = "write &amp;, so && is &amp;&amp;";

/** The most common cause of each complaint of saxes. */
const HINTS: Readonly<Record<string, string>> = {
  "undefined entity.": `undefined entity; where an & is meant ${AMPERSAND_HINT}`,
  "disallowed character in tag name": "disallowed character in tag name; where a < is meant write &lt;",
};

/**
 * A parser's complaint, reworded for the person who wrote the file. After a bare `&` a parser reads on for an entity's name and `;`, and
 * then complains far below or about something else, so a bare `&` is looked for first.
 * @param complaint the first one, as saxes words it
 * @param line the parser's position
 * @param unclosed the tag that is still open where another tag or the file ends
 */
function explainXmlMistake(text: string, complaint: string, line: number, unclosed?: OpenedTag): XmlMistake {
  const read = text.split("\n").slice(0, line).join("\n");
  for (const { 0: found, index } of read.matchAll(STRAY_AMPERSAND)) {
    if (found === "&") {
      const message = `a bare & is not allowed in XML: ${AMPERSAND_HINT}`;
      return { message, line: read.slice(0, index).split("\n").length };
    }
  }
  // saxes puts `line:column: ` in front; the location is printed once, as file:line.
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

/** The last entity of the text, the one complained about, if the DOCTYPE declares it. */
function declaredEntity(read: string): string | undefined {
  const [, doctype = ""] = /<!DOCTYPE([\s\S]*?\])\s*>/.exec(read) ?? [];
  const declared = new Set([...doctype.matchAll(/<!ENTITY\s+([A-Za-z_:][\w.:-]*)\s/g)].map(([, name]) => name));
  const used = [...read.slice(read.indexOf(doctype) + doctype.length).matchAll(/&([A-Za-z_:][\w.:-]*);/g)];
  return used.map(([, name]) => name).findLast((name) => declared.has(name));
}

/** One `<property>` of a Hadoop configuration file, with the location of its opening tag. */
export interface XmlProperty extends SourceLocation {
  readonly name: string;
  /** As written, `${…}` untouched. Undefined when the element is missing or empty: Hadoop then leaves the key as it was. */
  readonly value: string | undefined;
  readonly final: boolean;
}

interface XmlReaderOptions {
  /** Called for each `<property>` without a name; like Hadoop, the reader skips it. */
  readonly onUnnamed?: (location: SourceLocation) => void;
  /** Called for content of a `<property>` that looks effective but is not: what it is, and why. */
  readonly onLost?: (message: string, location: SourceLocation) => void;
  /** The text of a file, or undefined when there is none. Default: the local disk. */
  readonly readText?: (path: string) => string | undefined;
}

/**
 * The text of a local XML file; undefined when it does not exist. Other failures throw ConfigurationError.
 * @param name the name of the file in messages
 */
export function readLocalText(path: string, name: string = path): string | undefined {
  try {
    return decodeXml(readFileSync(path), name);
  } catch (error) {
    if (isNotThere(error)) return undefined;
    if (error instanceof ConfigurationError) throw error;
    const problem =
      errorCode(error) === "EISDIR" ? "is a folder: name a file" : `cannot be read: ${errorMessage(error)}`;
    throw new ConfigurationError(`${name} ${problem}`, {
      code: "CONFIGURATION_UNREADABLE",
      cause: error,
    });
  }
}

/**
 * Reads a Hadoop configuration file (`*-site.xml`, `job.xml`) in file order, with included files in place.
 *
 * Follows org.apache.hadoop.conf.Configuration.Parser: element and attribute form, `<final>`, `<include>` and `<xi:include>` with
 * `<xi:fallback>`, names trimmed and values not; relative includes, nested ones too, start at the folder of the first file.
 *
 * @throws ConfigurationError naming file and line
 */
export function readPropertiesFile(path: string, options: XmlReaderOptions = {}): XmlProperty[] {
  const readText = options.readText ?? readLocalText;
  const text = readText(path);
  if (text === undefined) {
    throw new ConfigurationError(`${path} does not exist`, { code: "CONFIGURATION_UNREADABLE" });
  }
  return parseProperties(text, path, options);
}

/** The same for text in memory; `file` names it in errors, and relative includes start at its folder. */
export function parseProperties(text: string, file: string, options: XmlReaderOptions = {}): XmlProperty[] {
  return new PropertiesParser([file], options, { included: 0 }).parse(text);
}

/** More than any site has; if each file included the next one twice, the work would double with each. */
const mostIncludedFiles = 100;

interface PendingProperty {
  readonly line: number;
  /** The recognised elements, in the order in which they were opened. */
  readonly elements: string[];
  /** Whether the loss of one of them has already been reported. */
  isTold: boolean;
  name: string | undefined;
  value: string | undefined;
  final: boolean;
}

/** The elements whose text matters. */
const textElements: ReadonlySet<string> = new Set(["name", "value", "final"]);

class PropertiesParser {
  readonly #trail: readonly string[];
  readonly #file: string;
  readonly #options: XmlReaderOptions;
  readonly #count: { included: number };
  readonly #parser = new SaxesParser();
  readonly #results: XmlProperty[] = [];
  #depth = 0;
  readonly #opened: OpenedTag[] = [];
  #lastClosed: OpenedTag | undefined;
  #text: string | undefined;
  /** The element that the text belongs to. */
  #textOf: string | undefined;
  #property: PendingProperty | undefined;
  #missingInclude: { readonly href: string; readonly line: number } | undefined;
  #fallbackDepth: number | undefined;
  /** Set once the fallback of a missing include has been seen. */
  #fallbackTaken = false;

  /**
   * @param trail the files being read, outermost first
   * @param count of everything read for the first file
   */
  constructor(trail: readonly string[], options: XmlReaderOptions, count: { included: number }) {
    this.#trail = trail;
    this.#count = count;
    this.#file = trail.at(-1) ?? "";
    this.#options = options;
  }

  parse(text: string): XmlProperty[] {
    const parser = this.#parser;
    parser.on("error", (error) => {
      const { message, line } = explainXmlMistake(text, error.message, parser.line, this.#unclosed(error.message));
      this.#fail(message, line);
    });
    parser.on("opentag", (tag) => this.#open(localName(tag.name), tag.attributes));
    parser.on("text", (value) => this.#append(value));
    parser.on("cdata", (value) => this.#append(value));
    parser.on("closetag", (tag) => this.#close(localName(tag.name)));
    parser.write(text.replace(/^\uFEFF/, "")).close();
    return this.#results;
  }

  /** When a parser meets another tag's end, it first closes the open one, and then complains. */
  #unclosed(complaint: string): OpenedTag | undefined {
    return complaint.endsWith("unexpected close tag.") ? this.#lastClosed : this.#opened.at(-1);
  }

  #open(element: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth += 1;
    this.#opened.push({ name: element, line: this.#parser.line });
    if (this.#depth === 1 && element !== "configuration") {
      this.#fail(`a Hadoop configuration starts with <configuration>, this file with <${element}>`, this.#parser.line);
    }
    if (this.#property !== undefined) this.#checkElement(this.#property, element);
    if (textElements.has(element)) {
      this.#text = "";
      this.#textOf = element;
    } else if (element === "property") {
      this.#property = {
        line: this.#parser.line,
        elements: [],
        isTold: false,
        name: attributes.name,
        value: attributes.value,
        final: attributes.final === "true",
      };
    } else if (element === "include") {
      this.#include(attributes.href);
    } else if (element === "fallback") {
      this.#fallbackDepth = this.#depth;
      this.#fallbackTaken = true;
    }
  }

  /** Hadoop reads the text of each element separately, takes the last one of a kind, and reports nothing. */
  #checkElement(property: PendingProperty, element: string): void {
    const outer = this.#text === undefined ? undefined : this.#textOf;
    const isSecond = textElements.has(element) && property.elements.includes(element);
    property.elements.push(element);
    if (outer !== undefined && textElements.has(element)) {
      this.#lost(property, `<${element}> stands inside <${outer}>, whose text is lost: write </${outer}> before it`);
    } else if (outer !== undefined) {
      this.#lost(property, `<${element}> inside <${outer}> has no meaning, only its text counts: take the tag out`);
    } else if (isSecond) {
      this.#lost(property, `this <property> has a second <${element}>, and the first one has no effect: take one out`);
    }
  }

  #lost(property: PendingProperty, message: string): void {
    property.isTold = true;
    this.#options.onLost?.(message, { file: this.#file, line: this.#parser.line });
  }

  #append(text: string): void {
    if (this.#text !== undefined) this.#text += text;
  }

  #close(element: string): void {
    this.#lastClosed = this.#opened.pop();
    const text = this.#text ?? "";
    if (textElements.has(element)) this.#text = undefined;
    const property = this.#property;
    if (element === "name" && property !== undefined && text !== "") property.name = text.trim();
    if (element === "value" && property !== undefined && text !== "") property.value = text;
    if (element === "final" && property !== undefined) property.final = text === "true";
    if (element === "property") this.#finishProperty();
    if (element === "fallback" && this.#fallbackDepth === this.#depth) this.#fallbackDepth = undefined;
    if (element === "include") this.#finishInclude();
    this.#depth -= 1;
  }

  #finishProperty(): void {
    const property = this.#property;
    this.#property = undefined;
    // A fallback counts only while its include is missing.
    if (property === undefined || (this.#fallbackDepth !== undefined && this.#missingInclude === undefined)) return;
    const { name, value, final, line, isTold } = property;
    if (name === undefined || name === "") {
      if (!isTold || this.#options.onLost === undefined) this.#options.onUnnamed?.({ file: this.#file, line });
      return;
    }
    this.#results.push({ name, value, final, file: this.#file, line });
  }

  #include(href: string | undefined): void {
    this.#fallbackTaken = false;
    if (href === undefined) return;
    const line = this.#parser.line;
    const path = this.#resolve(href, line);
    if (this.#trail.includes(path)) this.#fail(`<include href="${href}"> leads back to itself`, line);
    const text = (this.#options.readText ?? readLocalText)(path);
    if (text === undefined) {
      this.#missingInclude = { href, line };
      return;
    }
    this.#count.included += 1;
    if (this.#count.included > mostIncludedFiles) {
      this.#fail(
        `<include href="${href}"> is the ${mostIncludedFiles + 1}th: a configuration may include ${mostIncludedFiles} files`,
        line,
      );
    }
    const included = new PropertiesParser([...this.#trail, path], this.#options, this.#count).parse(text);
    for (const property of included) this.#results.push(property);
  }

  #finishInclude(): void {
    const missing = this.#missingInclude;
    this.#missingInclude = undefined;
    if (missing === undefined || this.#fallbackTaken) return;
    this.#fail(
      `<include href="${missing.href}"> names a file that does not exist, and has no <fallback>`,
      missing.line,
    );
  }

  #resolve(href: string, line: number): string {
    if (href.startsWith("file:")) return fileURLToPath(href);
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(href)) {
      this.#fail(`<include href="${href}"> is not a local file; copy it beside this one and name it by its path`, line);
    }
    return isAbsolute(href) ? href : join(dirname(this.#trail[0] ?? ""), href);
  }

  #fail(message: string, line: number): never {
    throw new ConfigurationError(message, { code: "CONFIGURATION_MALFORMED", location: { file: this.#file, line } });
  }
}

/** Hadoop compares local names: `xi:include` and `include` are the same. */
export function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
