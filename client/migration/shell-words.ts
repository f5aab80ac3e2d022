/** One word of a shell's command. */
export interface ShellWord {
  /** As written, with its quotes. */
  readonly written: string;
  /** Without them; variables stay. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** The offset in the script where the word begins, and the one after its end. */
  readonly from: number;
  readonly to: number;
  /** A quote in the word is not closed: the text after it cannot be interpreted. */
  readonly isOpen?: true;
}

/**
 * In this order: comments (none begins after an escaped blank), continued lines (people leave blanks or a comment after the backslash),
 * quotes and substitutions, blanks, the ends of commands, and everything else.
 */
const pieces =
  /(?<=^|\n|(?<!(?<!\\)(?:\\\\)*\\)[\s;|&()])#[^\n]*|\\\n|\\[ \t]+(?:#[^\n]*)?\n|\\[\s\S]|'[^']*'|"(?:\\[\s\S]|\$\([^()]*\)|\$(?!\([^()]*\))|[^"\\$])*"|\$\([^()]*\)|`[^`]*`|[ \t\r]+|[\n;|&<>()]|[^\s\\'"$`;|&<>()]+|[\s\S]/g;

/** The commands of a script, each as its words (POSIX.1-2024, Shell Command Language, 2.3). A redirection ends a command, too. */
export function shellCommands(script: string): ShellWord[][] {
  const commands: ShellWord[][] = [[]];
  let word: { written: string; text: string; line: number; from: number; to: number; isOpen?: true } | undefined;
  let line = 1;
  const endWord = () => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (const { 0: piece, index } of script.matchAll(pieces)) {
    const isComment = word === undefined && piece.startsWith("#");
    if (/^[ \t\r]+$/.test(piece)) {
      endWord();
    } else if (/^[\n;|&<>()]$/.test(piece)) {
      // The number of a redirection is not an argument.
      if (/[<>]/.test(piece) && /^\d$/.test(word?.written ?? "")) word = undefined;
      endWord();
      commands.push([]);
    } else if (!/^\\[ \t]*(?:#.*)?\n$/.test(piece) && !isComment) {
      word ??= { written: "", text: "", line, from: index, to: index };
      word.written += piece;
      word.text += unquoted(piece);
      word.to = index + piece.length;
      if (/^['"`]$/.test(piece)) word.isOpen = true;
    }
    line += piece.split("\n").length - 1;
  }
  endWord();
  return commands.filter(({ length }) => length > 0);
}

function unquoted(piece: string): string {
  if (/^'[\s\S]*'$/.test(piece)) return piece.slice(1, -1);
  if (/^"[\s\S]*"$/.test(piece)) return piece.slice(1, -1).replace(/\\([\\"$`])/g, "$1");
  return piece.length === 2 && piece.startsWith("\\") ? piece.slice(1) : piece;
}
