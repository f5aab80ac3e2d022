import { describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { keys } from "../../../client/commands/keys.ts";
import { ExitCode } from "../../../src/errors.ts";
import { recordedContext } from "../support.ts";

/** What `tony-ts keys …` prints and exits with, run in the checkout. */
async function ran(...words: string[]): Promise<{ out: string; err: string; exitCode: number }> {
  const parsed = await parseArguments(["keys", ...words], [keys]);
  if ("text" in parsed) throw new Error(parsed.text);
  const context = recordedContext({ workingDirectory: process.cwd() });
  const exitCode = await parsed.run(context);
  return { out: context.out.text, err: context.err.text, exitCode };
}

describe("tony-ts keys", () => {
  test("lists the keys that contain a text", async () => {
    const { out, err } = await ran("memory");
    expect(out.split("\n").filter((line) => line.startsWith("tony."))).toEqual([
      "tony.{role}.memory  (memory, default 2g)",
      "tony.am.memory  (memory, default 1g)",
    ]);
    expect(err).toBe("");
  });

  test("finds a key as a person writes it, for a role of any name", async () => {
    for (const name of ["tony.trainer.memory", "trainer.memory"]) {
      expect((await ran(name)).out).toMatch(/^tony\.\{role\}\.memory {2}\(/);
    }
  });

  test("with --effective takes a job's file as submit does", async () => {
    const file = "examples/hello/job.xml";
    expect(await ran("--effective", file)).toEqual(await ran("--effective", "--conf", file));
    expect((await ran("--effective", file)).out).toContain("examples/hello/job.xml:");
  });

  test.each([
    ["chekpoint", "checkpoint"],
    ["tony.trainer.memry", "tony.trainer.memory"],
  ])("asks whether %s was meant for another", async (typed, meant) => {
    expect((await ran(typed)).err).toBe(`No key contains ${typed}; did you mean ${meant}? tony-ts keys lists all\n`);
  });

  test("says what a key is, its default, and whether it works", async () => {
    expect((await ran("tony.am.memory")).out).toMatch(/^tony\.am\.memory {2}\(memory, default 1g\)\n {4}\S/);
    expect((await ran("tony.cache.trusted-owners")).out).toMatch(
      /^tony\.cache\.trusted-owners {2}\(list, default empty\)/,
    );
    const { keys: [key] = [], ...more }: { readonly keys?: readonly unknown[] } = JSON.parse(
      (await ran("tony.am.memory", "--json")).out,
    );
    expect(key).toMatchObject({ key: "tony.am.memory", type: "memory", value: "1g" });
    expect(more).toEqual({ jsonVersion: 1 });
  });

  test("with --effective shows where each value of a job was set, its defaults too", async () => {
    const words = ["--effective", "examples/hello/job.xml", "--conf", "tony.worker.memory=3g"];
    const rows = (await ran(...words)).out.split("\n").map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(["key", "value", "set in"]);
    expect(rows).toContainEqual(["tony.worker.memory", "3g", "-conf"]);
    expect(rows).toContainEqual(["tony.am.memory", expect.stringMatching(/^1/), "default"]);
    const { out } = await ran(...words, "--json");
    const listed: { readonly keys: readonly unknown[] } = JSON.parse(out);
    expect(listed.keys).toContainEqual(
      expect.objectContaining({ key: "tony.worker.memory", value: "3g", at: "-conf" }),
    );
  });

  test("says when there is none", async () => {
    const nothing = { out: "", err: "No key contains nomatch; tony-ts keys lists all\n", exitCode: ExitCode.succeeded };
    expect(await ran("nomatch")).toEqual(nothing);
    expect(JSON.parse((await ran("nomatch", "--json")).out)).toMatchObject({ keys: [] });
  });

  test("shows no values of a job that cannot be read without saying so", async () => {
    const { err, exitCode } = await ran("--effective", "--conf", "gone.xml");
    expect(err).toBe("the job's file gone.xml does not exist\n");
    expect(exitCode).toBe(ExitCode.usage);
  });
});
