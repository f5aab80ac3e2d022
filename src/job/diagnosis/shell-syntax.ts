import { shellWords, type Token } from "./shell-words.ts";

/** The syntax of a bash command. Groups and subshells are lists. */
export type ShellNode =
  | { readonly type: "command"; readonly words: readonly string[] }
  | { readonly type: "pipe"; readonly parts: readonly ShellNode[] }
  | { readonly type: "not"; readonly of: ShellNode }
  | { readonly type: "chain"; readonly first: ShellNode; readonly rest: readonly Link[] }
  | ShellList
  | { readonly type: "if"; readonly branches: readonly Branch[]; readonly otherwise: ShellList }
  | { readonly type: "loop"; readonly word: string; readonly test: ShellList; readonly body: ShellList }
  | { readonly type: "case"; readonly branches: readonly ShellList[] }
  | { readonly type: "function"; readonly name: string; readonly body: ShellNode };

export interface ShellList {
  readonly type: "list";
  readonly items: readonly { readonly node: ShellNode; readonly isBackground: boolean }[];
}

interface Link {
  readonly operator: string;
  readonly node: ShellNode;
}

interface Branch {
  readonly test: ShellList;
  readonly body: ShellList;
}

const nothing: ShellList = { type: "list", items: [] };

/** @returns undefined for a command that it cannot parse */
export function parseShell(command: string): ShellList | undefined {
  const parser = new Parser(shellWords(command));
  try {
    return parser.whole();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): ShellList {
    const list = this.#list();
    if (this.#at < this.#tokens.length) throw new SyntaxError(`unexpected ${this.#text}`);
    return list;
  }

  get #text(): string {
    return this.#tokens[this.#at]?.text ?? "";
  }

  #isOperator(...operators: readonly string[]): boolean {
    const token = this.#tokens[this.#at];
    return token?.type === "operator" && operators.includes(token.text);
  }

  #isWord(...words: readonly string[]): boolean {
    const token = this.#tokens[this.#at];
    return token?.type === "word" && words.includes(token.text);
  }

  /** Consumes the next token, which must be this one. */
  #expect(text: string): void {
    if (this.#text !== text) throw new SyntaxError(`${text} is missing`);
    this.#at += 1;
  }

  #list(...ends: readonly string[]): ShellList {
    const items: { node: ShellNode; isBackground: boolean }[] = [];
    for (;;) {
      while (this.#isOperator(";", "\n")) this.#at += 1;
      if (this.#at >= this.#tokens.length || this.#isOperator(")", ";;", ";&", ";;&") || this.#isWord(...ends)) break;
      const node = this.#chain();
      const isBackground = this.#isOperator("&");
      if (isBackground) this.#at += 1;
      items.push({ node, isBackground });
    }
    return { type: "list", items };
  }

  #chain(): ShellNode {
    const first = this.#pipe();
    const rest: Link[] = [];
    while (this.#isOperator("&&", "||")) {
      const operator = this.#text;
      this.#at += 1;
      this.#skipLines();
      rest.push({ operator, node: this.#pipe() });
    }
    return rest.length === 0 ? first : { type: "chain", first, rest };
  }

  #pipe(): ShellNode {
    if (this.#isWord("!")) {
      this.#at += 1;
      return { type: "not", of: this.#pipe() };
    }
    while (this.#isWord("time", "-p")) this.#at += 1;
    const parts = [this.#command()];
    while (this.#isOperator("|", "|&")) {
      this.#at += 1;
      this.#skipLines();
      parts.push(this.#command());
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { type: "pipe", parts };
  }

  #command(): ShellNode {
    if (this.#isOperator("(")) return this.#enclosed("(", ")");
    if (this.#isWord("{")) return this.#enclosed("{", "}");
    if (this.#isWord("if")) return this.#if();
    if (this.#isWord("for", "select", "while", "until")) return this.#loop();
    if (this.#isWord("case")) return this.#case();
    if (this.#isWord("function")) return this.#function();
    return this.#simple();
  }

  #enclosed(open: string, close: string): ShellNode {
    this.#expect(open);
    const list = this.#list(close);
    this.#expect(close);
    this.#redirections();
    return list;
  }

  #if(): ShellNode {
    const branches: Branch[] = [];
    while (this.#isWord("if", "elif")) {
      this.#at += 1;
      const test = this.#list("then");
      this.#expect("then");
      branches.push({ test, body: this.#list("elif", "else", "fi") });
    }
    const hasElse = this.#isWord("else");
    if (hasElse) this.#at += 1;
    const otherwise = hasElse ? this.#list("fi") : nothing;
    this.#expect("fi");
    this.#redirections();
    return { type: "if", branches, otherwise };
  }

  #loop(): ShellNode {
    const word = this.#text;
    this.#at += 1;
    const isCounted = word === "for" || word === "select";
    const test = isCounted ? this.#values() : this.#list("do");
    this.#expect("do");
    const body = this.#list("done");
    this.#expect("done");
    this.#redirections();
    return { type: "loop", word, test, body };
  }

  /** The words that a loop iterates over run nothing. */
  #values(): ShellList {
    while (this.#at < this.#tokens.length && !this.#isWord("do")) this.#at += 1;
    return nothing;
  }

  #case(): ShellNode {
    this.#at += 1;
    while (this.#at < this.#tokens.length && !this.#isWord("in")) this.#at += 1;
    this.#expect("in");
    const branches: ShellList[] = [];
    for (;;) {
      while (this.#isOperator(";", "\n", ";;", ";&", ";;&", "(")) this.#at += 1;
      if (this.#isWord("esac")) break;
      while (this.#at < this.#tokens.length && !this.#isOperator(")")) this.#at += 1;
      this.#expect(")");
      branches.push(this.#list("esac"));
    }
    this.#expect("esac");
    this.#redirections();
    return { type: "case", branches };
  }

  #function(): ShellNode {
    this.#at += 1;
    return this.#functionBody(this.#take());
  }

  #functionBody(name: string): ShellNode {
    if (this.#isOperator("(")) {
      this.#expect("(");
      this.#expect(")");
    }
    this.#skipLines();
    return { type: "function", name, body: this.#command() };
  }

  #simple(): ShellNode {
    const words: string[] = [];
    while (this.#tokens[this.#at]?.type === "word") words.push(this.#take());
    const [name = ""] = words;
    if (words.length === 1 && this.#isOperator("(") && this.#tokens[this.#at + 1]?.text === ")") {
      return this.#functionBody(name);
    }
    if (words.length === 0) throw new SyntaxError(`unexpected ${this.#text}`);
    return { type: "command", words };
  }

  #redirections(): void {
    while (this.#tokens[this.#at]?.type === "word" && /[<>]/.test(this.#text)) {
      const isApart = /[<>]$/.test(this.#text);
      this.#at += isApart ? 2 : 1;
    }
  }

  #skipLines(): void {
    while (this.#isOperator("\n")) this.#at += 1;
  }

  #take(): string {
    const text = this.#text;
    this.#at += 1;
    return text;
  }
}
