import { describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { kv } from "../../../client/commands/kv.ts";
import { recordedContext } from "../support.ts";

async function ran(...words: string[]): Promise<unknown> {
  const parsed = await parseArguments(["kv", "application_1795305600000_0007", ...words], [kv]);
  if ("text" in parsed) throw new Error(parsed.text);
  return await parsed.run(recordedContext({ workingDirectory: process.cwd() }));
}

describe("tony-ts kv", () => {
  test.each([
    [["take", "a"], "kv does get, put, del, list, transact, watch, not take"],
    [["get"], "Which key? kv ID get KEY"],
    [["del"], "Which key? kv ID del KEY"],
    [["put", "a"], "Which value? kv ID put KEY VALUE"],
    [["get", "a", "1"], "kv ID get takes no value"],
    [["list", "a", "1"], "kv ID list takes no value"],
    [["del", "a", "--owner", "worker:0"], "--owner works only with put and transact"],
    [["transact", "{}", "1"], "kv ID transact takes no value"],
    [["watch", "a", "1"], "kv ID watch takes no value"],
    [["list", "--after", "1:8"], "--after works only with watch"],
    [["watch", "--after", "8"], "--after is an attempt and a revision, as watch --json prints them: 1:8, not 8"],
  ])("%j is refused before anybody is asked", async (words, message) => {
    await expect(ran(...words)).rejects.toMatchObject({ message, exitCode: 2 });
  });
});
