import { describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { commands } from "../../../client/commands/commands.ts";

async function textOf(...words: string[]): Promise<string> {
  return await textWithin(undefined, ...words);
}

async function textWithin(columns: number | undefined, ...words: string[]): Promise<string> {
  const parsed = await parseArguments(words, commands, columns);
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

  test("is as wide as the terminal, and on a wide one no wider than elsewhere", async () => {
    const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));
    expect(widest(await textWithin(60, "keys", "--help"))).toBeLessThanOrEqual(60);
    expect(await textWithin(300, "keys", "--help")).toBe(await textOf("keys", "--help"));
  });

  test("names the version", async () => {
    expect(await textOf("--version")).toMatch(/^\d+\.\d+\.\d+/);
  });

  test("has -h too", async () => {
    expect(await textOf("kill", "-h")).toBe(await textOf("kill", "--help"));
  });
});
