import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";

const library = path.resolve(import.meta.dirname, "../../src/hadoop");
const main = readFileSync(path.join(library, "main.ts"), "utf8");

/** What main.ts exports: by module, its names, or "*" for all of them. */
type Exported = { readonly module: string; readonly names: "*" | readonly string[] };

const modules = [...main.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from "\.\/(.*)";$/gm)].map(
  ([, names = "", module = ""]): Exported => ({ module, names: names === "*" ? names : namesIn(names) }),
);

function namesIn(list: string): string[] {
  return [...list.matchAll(/\w+/g)].map(([name]) => name).filter((name) => name !== "type");
}

/**
 * The public names of a module and the methods of its classes and interfaces, and whether a doc comment stands right before each. What
 * implements an interface says no more than that; overloads share the comment of the first.
 */
function declarationsOf(module: string, names: "*" | readonly string[]): { name: string; documented: boolean }[] {
  const lines = readFileSync(path.join(library, module), "utf8").split("\n");
  let within: string | undefined;
  return lines.flatMap((line, index) => {
    const before = lines[index - 1]?.trim() ?? "";
    const documented = before.endsWith("*/");
    if (line.startsWith("}")) within = undefined;
    const [, kind, declared] =
      /^export (class|interface|type|function\*?|async function\*?|const) (\w+)/.exec(line) ?? [];
    if (declared !== undefined) {
      const wanted = names === "*" || names.includes(declared);
      within =
        wanted && (kind === "class" || kind === "interface") && !line.includes(" implements ") ? declared : undefined;
      return wanted ? [{ name: declared, documented }] : [];
    }
    const member = /^ {2}(?:static |async |get |\*)*(\w+)\??(?:<[^(]*>)?\(/.exec(line)?.[1];
    if (within === undefined || member === undefined || member === "constructor") return [];
    const overload = before.startsWith(`${member}(`);
    return [{ name: `${within}#${member}`, documented: documented || overload }];
  });
}

describe("what tony-ts/hadoop exports", () => {
  test.each(modules)("of $module is documented", ({ module, names }) => {
    const declarations = declarationsOf(module, names);
    expect(declarations.length).toBeGreaterThan(0);
    expect(declarations.filter(({ documented }) => !documented).map(({ name }) => name)).toEqual([]);
  });

  test("is found in full by this test", () => {
    const named = modules.flatMap(({ names }) => (names === "*" ? [] : names));
    const found = modules.flatMap(({ module, names }) => declarationsOf(module, names).map(({ name }) => name));
    expect(named.filter((name) => !found.includes(name))).toEqual([]);
  });
});
