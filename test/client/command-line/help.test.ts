import { describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { commands } from "../../../client/commands/commands.ts";

async function textOf(...words: string[]): Promise<string> {
  const parsed = await parseArguments(words, commands);
  return "text" in parsed ? parsed.text : "";
}

describe("help", () => {
  test("of tony-ts itself", async () => {
    expect(await textOf("--help")).toMatchSnapshot();
  });

  test.each(commands.map(({ verb }) => verb))("of %s", async (verb) => {
    expect(await textOf(verb, "--help")).toMatchSnapshot();
  });

  test.each(["list", "prune"])("of cache %s", async (verb) => {
    expect(await textOf("cache", verb, "--help")).toMatchSnapshot();
  });

  test("names the version", async () => {
    expect(await textOf("--version")).toMatch(/^\d+\.\d+\.\d+/);
  });

  test("has -h too", async () => {
    expect(await textOf("kill", "-h")).toBe(await textOf("kill", "--help"));
  });
});
