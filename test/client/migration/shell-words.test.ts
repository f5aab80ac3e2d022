import { expect, test } from "@jest/globals";
import { shellCommands } from "../../../client/migration/shell-words.ts";

test.each([
  ["quotes, and what stands in them", `a 'b c' "d $E" f\\ g`, [["a", "b c", "d $E", "f g"]]],
  ["substitutions", 'a "$(b "c") d" $(e f) `g h`', [["a", '$(b "c") d', "$(e f)", "`g h`"]]],
  ["a command in several lines", "a \\\n  b\nc", [["a", "b"], ["c"]]],
  ["the ends of commands", "a; b | c && d", [["a"], ["b"], ["c"], ["d"]]],
  ["redirections", "a 2>file", [["a"], ["file"]]],
  ["comments", "# it's\na b#c # it's d", [["a", "b#c"]]],
  ["a quote that has no end", "a 'b", [["a", "'b"]]],
])("%s", (_what, script, words) => {
  expect(shellCommands(script).map((command) => command.map(({ text }) => text))).toEqual(words);
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
