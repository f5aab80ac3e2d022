import { expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { submit } from "../../../client/commands/submit.ts";
import { recordedContext } from "../support.ts";

const tag = "--application-tag takes up to 100 letters, digits and punctuation of ASCII, without spaces and commas";

test.each([
  [["--dry-run", "--detach"], "--dry-run submits nothing, so there is no job to leave with --detach"],
  [["--name", " "], "--name needs a value"],
  [["--queue", ""], "--queue needs a value"],
  [["--resume-from", ""], "--resume-from needs a value"],
  [["--application-tag", "a,b"], tag],
  [["--application-tag", "a b"], tag],
  [["--application-tag", "é"], tag],
  [["--application-tag", "x".repeat(101)], tag],
  [["--scheduler", "local", "--queue", "ml"], "--queue has no effect with --scheduler local: leave one of them out"],
  [
    ["--scheduler", "local", "--application-tag", "nightly"],
    "--application-tag has no effect with --scheduler local: leave one of them out",
  ],
])("submit %j is refused before the job is read", async (words, message) => {
  const parsed = await parseArguments(["submit", ...words, "gone.xml"], [submit]);
  if ("text" in parsed) throw new Error(parsed.text);
  await expect(parsed.run(recordedContext({}))).rejects.toMatchObject({ message, exitCode: 2 });
});
