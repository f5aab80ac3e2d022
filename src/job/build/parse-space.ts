import { errorMessage } from "../../hadoop/errors.ts";
import { parseParameter } from "../search/parse-parameter.ts";
import type { Parameter } from "../search/space.ts";

/**
 * The parameters of a file: a JSON object, or a YAML mapping with one parameter per line; in both, a name and the text that a parameter's
 * key has.
 * @param refuse is called with each fault and its line
 */
export function parseSpace(text: string, path: string, refuse: (said: string) => void): Parameter[] {
  const lines = text.split(/\r?\n/);
  const isJson = text.trimStart().startsWith("{");
  const broken = isJson ? brokenJson(text) : undefined;
  if (broken !== undefined) {
    refuse(`names ${path}, ${broken}`);
    return [];
  }
  const entries = isJson ? ofJson(text, lines) : lines.flatMap(ofYaml);
  const seen = new Set<string>();
  return entries.flatMap(({ name, said, line, like = "float 0 1" }): Parameter[] => {
    const wrong = (words: string): [] => {
      refuse(`names ${path}, whose line ${line} ${words}`);
      return [];
    };
    if (name !== undefined && said === undefined)
      return wrong(`has ${name}, which must be text: ${JSON.stringify(name)}: ${JSON.stringify(like)}`);
    if (name === undefined || said === undefined) return wrong("is not a parameter: write NAME: float 0 1");
    if (seen.has(name)) return wrong(`has ${name} again`);
    seen.add(name);
    try {
      return [{ name, ...parseParameter(said) }];
    } catch (error) {
      return wrong(`has ${name}, which must be ${errorMessage(error)}`);
    }
  });
}

interface Entry {
  readonly name?: string;
  readonly said?: string;
  /** What a value that is not text was probably meant to be. */
  readonly like?: string;
  readonly line: number;
}

function ofYaml(text: string, index: number): Entry[] {
  const line = index + 1;
  if (/^\s*(#.*|---)?$/.test(text)) return [];
  const [, name, said = ""] = /^["']?([^\s:"']+)["']?\s*:\s+(.*?)\s*(?:\s#.*)?$/.exec(text) ?? [];
  if (name === undefined) return [{ line }];
  return [{ name, said: said.replace(/^(["'])(.*)\1$/, "$2"), line }];
}

/** The fault in a JSON text, with the line where its parser reports it; undefined: none. */
function brokenJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const why = errorMessage(error);
    const [known, position] = / in JSON at position (\d+)/.exec(why) ?? [];
    if (known === undefined) return `which is no JSON: ${why}`;
    const line = text.slice(0, Number(position)).split("\n").length;
    return `whose line ${line} is no JSON: ${why.slice(0, why.indexOf(known))}`;
  }
}

function ofJson(text: string, lines: readonly string[]): Entry[] {
  const document: unknown = JSON.parse(text);
  const entries = typeof document === "object" && document !== null ? Object.entries(document) : [];
  return entries.map(([name, said]) => {
    const line = lines.findIndex((one) => one.includes(JSON.stringify(name))) + 1;
    return typeof said === "string"
      ? { name, said, line }
      : { name, line, ...(Array.isArray(said) && { like: choiceOf(said) }) };
  });
}

function choiceOf(values: readonly unknown[]): string {
  return `choice ${values.map((value) => (/^[^\s",]+$/.test(String(value)) ? value : `"${value}"`)).join(" ")}`;
}
