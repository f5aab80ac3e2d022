/** A word that a POSIX shell does not change. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A command line of those words, as a person would write it: `ls -l 'a b'`. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellWord(word))).join(" ");
}
