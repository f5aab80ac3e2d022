/** A piece of a bash command: a word, with its quotes, or an operator. */
export interface Token {
  readonly type: "word" | "operator";
  readonly text: string;
}

const OPERATOR = /^(?:;;&|;;|;&|&&|\|\||\|&|[|&;\n()])/;

/** The words and operators of a command, without comments. A here-document appears as the here-string `<<< '…'`. */
export function shellWords(command: string): Token[] {
  return new Reader(command).read();
}

class Reader {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  /** Here-documents that begin on the next line: their end marks, and the positions of their words. */
  readonly #documents: { readonly end: string; readonly at: number }[] = [];
  #at = 0;
  #word = "";

  constructor(text: string) {
    this.#text = text.replace(/\\\n/g, " ");
  }

  read(): Token[] {
    while (this.#at < this.#text.length) this.#next();
    this.#endWord();
    return this.#tokens;
  }

  #next(): void {
    const rest = this.#text.slice(this.#at);
    const [operator = ""] = OPERATOR.exec(rest) ?? [];
    if (/^[ \t\r]/.test(rest)) this.#skip(1);
    else if (rest.startsWith("#") && this.#word === "") this.#at += /^[^\n]*/.exec(rest)?.[0].length ?? 0;
    else if (/^<<-?(?!<)/.test(rest) && !this.#word.endsWith("<")) this.#hereDocument(rest);
    else if (/^(?:[$<>]?\(|\$\{)/.test(rest) && (rest[0] !== "(" || this.#word.endsWith("="))) this.#take(nested(rest));
    else if (operator !== "" && !this.#redirects(rest)) this.#operator(operator);
    else this.#take(oneSign(rest));
  }

  #operator(operator: string): void {
    this.#skip(operator.length);
    this.#tokens.push({ type: "operator", text: operator });
    if (operator !== "\n") return;
    for (const { end, at } of this.#documents.splice(0)) this.#tokens[at] = { type: "word", text: this.#document(end) };
  }

  /** `2>&1`, `&>log` and `>|log` */
  #redirects(rest: string): boolean {
    return (/^[&|]/.test(rest) && /[<>]$/.test(this.#word)) || /^&>/.test(rest);
  }

  #hereDocument(rest: string): void {
    const [all = "<<", end] = /^<<-?[ \t]*([^\s;|&()<>]+)/.exec(rest) ?? [];
    this.#skip(all.length);
    if (end === undefined) return;
    this.#tokens.push({ type: "word", text: "<<<" }, { type: "word", text: "''" });
    this.#documents.push({ end: end.replace(/['"\\]/g, ""), at: this.#tokens.length - 1 });
  }

  /** All lines up to the end mark, as a quoted word. */
  #document(end: string): string {
    const lines: string[] = [];
    for (;;) {
      const [line = ""] = /^[^\n]*\n?/.exec(this.#text.slice(this.#at)) ?? [];
      this.#at += line.length;
      if (line.trim() === end || line === "") return `'${lines.join("")}'`;
      lines.push(line);
    }
  }

  #take(text: string): void {
    this.#word += text;
    this.#at += text.length;
  }

  #skip(length: number): void {
    this.#endWord();
    this.#at += length;
  }

  #endWord(): void {
    if (this.#word !== "") this.#tokens.push({ type: "word", text: this.#word });
    this.#word = "";
  }
}

/** One character, or everything inside quotes. */
function oneSign(rest: string): string {
  const [quoted] = /^(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|`[^`]*`|\\[\s\S])/.exec(rest) ?? [];
  return quoted ?? rest.slice(0, 1);
}

/** Up to the bracket that closes the first one. */
function nested(rest: string): string {
  let depth = 0;
  for (let at = 0; at < rest.length; ) {
    const sign = oneSign(rest.slice(at));
    if (sign === "(" || sign === "{") depth += 1;
    at += sign.length;
    if ((sign === ")" || sign === "}") && --depth === 0) return rest.slice(0, at);
  }
  return rest;
}
