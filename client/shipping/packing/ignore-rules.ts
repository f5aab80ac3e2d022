/** One line of an ignore file. */
interface Rule {
  readonly matches: RegExp;
  /** `!pattern`: matching entries are sent after all. */
  readonly keeps: boolean;
  readonly foldersOnly: boolean;
}

/**
 * Patterns as git reads them in the `.gitignore` of a folder's root (gitignore(5)): comments, `!`, a slash at the end for folders alone, one
 * at the beginning or inside that ties a pattern to the root, `*`, `?`, `[a-z]`, `**`. The last matching line decides; nothing below an
 * excluded folder can be included again.
 */
export class IgnoreRules {
  readonly #rules: readonly Rule[];

  constructor(text: string) {
    this.#rules = text.split("\n").flatMap((line) => parseRule(line) ?? []);
  }

  /** @param path relative to the root @returns undefined when no line matches */
  verdict(path: string, isFolder: boolean): "leave-out" | "keep" | undefined {
    const rule = this.#rules.findLast(({ matches, foldersOnly }) => (isFolder || !foldersOnly) && matches.test(path));
    if (rule === undefined) return undefined;
    return rule.keeps ? "keep" : "leave-out";
  }
}

function parseRule(line: string): Rule | undefined {
  const written = line.replace(/\r$/, "").replace(/(?<!\\)[ \t]+$/, "");
  if (written === "" || written.startsWith("#")) return undefined;
  const keeps = written.startsWith("!");
  const [, pattern = "", slash] = /^(.*?)(\/?)$/.exec(keeps ? written.slice(1) : written) ?? [];
  if (pattern === "") return undefined;
  const anywhere = pattern.includes("/") ? "" : "(?:.*/)?";
  return { matches: new RegExp(`^${anywhere}${expression(pattern)}$`, "s"), keeps, foldersOnly: slash !== "" };
}

/** Parts of a pattern with a special meaning, longest first. */
const special =
  /^\/?(?:\*\*\/)+|^\/|\/(?:\*\*\/)+|\/\*\*$|\*+|\?|\[[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*\]|\\.|[^*?[\\]|./gs;

function expression(pattern: string): string {
  return pattern.replace(special, (part, offset: number) => {
    if (part === "/" && offset === 0) return "";
    if (part.endsWith("**/")) return offset === 0 ? "(?:.*/)?" : "/(?:.*/)?";
    if (part === "/**") return "/.*";
    if (part.startsWith("*")) return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.startsWith("[") && part.length > 2) return characterClass(part);
    return literal(part.length === 2 ? part.slice(1) : part);
  });
}

/** A member of a class: `[:digit:]`, a range, or one character; a backslash takes a character's meaning. */
const member = /\[:([a-z]+):\]|\\?(.)(?:-\\?(.))?/gs;
/** ASCII alone, as in git's wildmatch.c. */
const named: Readonly<Record<string, string>> = {
  ...{ alnum: "0-9A-Za-z", alpha: "A-Za-z", digit: "0-9", lower: "a-z", upper: "A-Z", xdigit: "0-9A-Fa-f" },
  ...{
    blank: " \\t",
    space: " \\t-\\r",
    cntrl: "\\x00-\\x1f\\x7f",
    graph: "!-~",
    print: " -~",
    punct: "!-\\/:-@\\[-`{-~",
  },
};

/** `[!a-z]`: git negates with `!` or `^`. Of a range whose end comes before its start it takes the start. */
function characterClass(part: string): string {
  const [, negation, members = ""] = /^\[([!^]?)(.*)\]$/s.exec(part) ?? [];
  const escaped = members.replace(member, (_, name: string | undefined, from = "", to = from) => {
    if (name !== undefined) return named[name] ?? "";
    return from <= to ? `${inClass(from)}-${inClass(to)}` : inClass(from);
  });
  return `(?!/)[${negation === "" ? "" : "^"}${escaped}]`;
}

function inClass(character: string): string {
  return character.replace(/[\\[\]^-]/, "\\$&");
}

function literal(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
