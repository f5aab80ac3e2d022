import { expect, test } from "@jest/globals";
import { shellCommands } from "../../../client/migration/shell-words.ts";

test.each([
  ["quotes, and what stands in them", `a 'b c' "d $E" f\\ g`, [["a", "b c", "d $E", "f g"]]],
  ["substitutions", 'a "$(b "c") d" $(e f) `g h`', [["a", '$(b "c") d', "$(e f)", "`g h`"]]],
  ["a command in several lines", "a \\\n  b\nc", [["a", "b"], ["c"]]],
  ["the ends of commands", "a; b | c && d", [["a"], ["b"], ["c"], ["d"]]],
  ["redirections", "a 2>file", [["a"], ["file"]]],
  ["comments", "# it's\na b#c # it's d", [["a", "b#c"]]],
  ["a blank that is escaped, after which # begins no comment", "a\\ #b c", [["a #b", "c"]]],
  ["a comment after an escaped backslash, or in the next line", "a\\\\ #b c\nd \\\n# e\n f", [["a\\"], ["d"], ["f"]]],
  ["escapes in quotes", '"a \\"b\\" \\$C \\n"', [['a "b" $C \\n']]],
  ["line ends of Windows", "a b\r\nc\r\n", [["a", "b"], ["c"]]],
  ["groups", "(a; b) && c", [["a"], ["b"], ["c"]]],
  ["a quote that has no end", "a 'b", [["a", "'b"]]],
])("%s", (_what, script, words) => {
  expect(shellCommands(script).map((command) => command.map(({ text }) => text))).toEqual(words);
});

test("a word knows whether a quote in it is not closed", () => {
  const open = (script: string) => shellCommands(script).flatMap((words) => words.map(({ isOpen = false }) => isOpen));
  expect(["a 'b", 'a "b', "a `b"].map(open)).toEqual(Array(3).fill([false, true]));
  expect(open("'a' \"b\" `c`")).toEqual([false, false, false]);
});

test("a word knows its line and how it was written", () => {
  expect(shellCommands("a 'b\nc' \\\n d")).toMatchObject([
    [
      { written: "a", text: "a", line: 1, from: 0, to: 1 },
      { written: "'b\nc'", text: "b\nc", line: 1 },
      { written: "d", text: "d", line: 3 },
    ],
  ]);
});
