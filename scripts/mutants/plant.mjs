import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "@swc/core";

/**
 * Where a bug is planted, and what it changes there.
 * @typedef {object} Edit
 * @property {string} inside the function, method or constant, by its name; `Class.method` where several have it
 * @property {string} find the code that occurs there once, in any layout
 * @property {string} replace
 *
 * @typedef {{ readonly names: readonly string[], readonly start: number, readonly end: number }} Declaration its place is in bytes
 */

/**
 * @param {Edit & { readonly file: string }} edit
 * @param {string} text of the file
 * @returns {{ mutated: string, problem?: undefined } | { problem: string, mutated?: undefined }}
 */
export function plant({ file, inside, find, replace }, text) {
  const bytes = Buffer.from(text);
  const declared = declarations(text).filter(({ names }) => names.includes(inside));
  const [only] = declared;
  if (only === undefined || declared.length > 1) {
    return { problem: `${file} declares ${inside} ${declared.length} times instead of once` };
  }
  const whole = bytes.toString("utf8", only.start, only.end);
  const pieces = whole.split(layoutFree(find));
  if (pieces.length !== 2)
    return { problem: `${inside} of ${file} has this ${pieces.length - 1} times instead of once: ${find}` };
  return {
    mutated: [bytes.toString("utf8", 0, only.start), pieces.join(replace), bytes.toString("utf8", only.end)].join(""),
  };
}

/**
 * Applies an edit to the text of a file in a checkout, without writing it.
 * @param {string} checkout
 * @param {Edit & { readonly file: string }} edit
 * @returns {{ text: string, mutated: string, problem?: undefined } | { problem: string, mutated?: undefined }}
 */
export function plantIn(checkout, edit) {
  const file = join(checkout, edit.file);
  if (!existsSync(file)) return { problem: `${edit.file} is not there any more` };
  const text = readFileSync(file, "utf8");
  const { mutated, problem } = plant(edit, text);
  return mutated === undefined ? { problem } : { text, mutated };
}

/** A pattern that matches a piece of code in any layout of the formatter. @param {string} code */
function layoutFree(code) {
  const tokens = code.match(/[\w$]+|\S/g) ?? [];
  const joined = tokens.map((token, index) => {
    const word = /[\w$]/.test(token);
    const before =
      index === 0 ? (word ? "(?<![\\w$])" : "") : word && /[\w$]$/.test(tokens[index - 1] ?? "") ? "\\s+" : "\\s*";
    const trailingComma = index > 0 && /[)\]}]/.test(token) ? ",?\\s*" : "";
    return before + trailingComma + token.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(joined.join("") + (/[\w$]$/.test(code) ? "(?![\\w$])" : ""));
}

/**
 * Functions, classes, constants and class members, each with its names.
 * @param {string} text
 * @returns {readonly Declaration[]}
 */
export function declarations(text) {
  return parseSync(text, { syntax: "typescript", target: "es2022" }).body.flatMap((item) =>
    declaredBy(item.type === "ExportDeclaration" ? item.declaration : item),
  );
}

/** @param {import("@swc/core").ModuleItem} item @returns {Declaration[]} */
function declaredBy(item) {
  switch (item.type) {
    case "FunctionDeclaration":
      return [at(item.span, item.identifier.value)];
    case "VariableDeclaration":
      return item.declarations.flatMap(({ id, span }) => (id.type === "Identifier" ? [at(span, id.value)] : []));
    case "ClassDeclaration":
      return item.body.flatMap((member) => {
        const name = nameOf(member);
        return name === undefined || !("span" in member)
          ? []
          : [at(member.span, name, `${item.identifier.value}.${name}`)];
      });
    default:
      return [];
  }
}

/** @param {import("@swc/core").ClassMember} member */
function nameOf(member) {
  if (!("key" in member)) return undefined;
  if (member.type === "PrivateMethod" || member.type === "PrivateProperty") return `#${privateName(member.key)}`;
  return "value" in member.key ? String(member.key.value) : undefined;
}

/** Its type declares `id`, but its value is where other names have theirs. @param {object} key */
const privateName = (key) => Reflect.get(key, "value");

/** swc counts from 1. @param {import("@swc/core").Span} span @param {string[]} names @returns {Declaration} */
const at = ({ start, end }, ...names) => ({ names, start: start - 1, end: end - 1 });
