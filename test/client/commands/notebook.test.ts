import { describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { notebook } from "../../../client/commands/notebook.ts";
import { recordedContext } from "../support.ts";

/** Runs `tony-ts notebook …` where no cluster is. */
async function run(environment: Readonly<Record<string, string>>, ...words: string[]): Promise<unknown> {
  const parsed = await parseArguments(["notebook", ...words], [notebook]);
  if ("text" in parsed) throw new Error(parsed.text);
  return await parsed.run(recordedContext({ environment }));
}

describe("tony-ts notebook", () => {
  test.each([
    [["--idle", "soon"], "--idle must be a duration such as 90s, 5m or 2h"],
    [["--local-port", "70000"], "--local-port is a number from 1 to 65535, not 70000"],
  ])("refuses %j", async (words, message) => {
    await expect(run({ JUPYTER_TOKEN: "own" }, ...words)).rejects.toMatchObject({
      code: "USAGE",
      exitCode: 2,
      message: expect.stringContaining(message),
    });
  });

  test("makes no token that nobody could learn of", async () => {
    await expect(run({})).rejects.toMatchObject({
      code: "NO_TOKEN",
      exitCode: 2,
      message: expect.stringContaining("set one in the environment, as JUPYTER_TOKEN"),
    });
    await expect(run({ JUPYTER_TOKEN: "own" })).rejects.toMatchObject({ code: "NO_CLUSTER" });
  });
});
