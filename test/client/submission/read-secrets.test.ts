import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readSecrets, secretProblems } from "../../../client/submission/read-secrets.ts";
import { readJob } from "../../../src/job/build/load-job.ts";
import { secretSources } from "../../../src/job/keys/types.ts";
import { programSecrets, programSecretsIn } from "../../../src/job/launch/program-secrets.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "secrets-"));
  const files = {
    token: 'a $ecret, with "quotes"\n',
    spaced: " a b \r\n\r\n",
    empty: "\n",
    binary: "a\0b",
    long: "x".repeat(70_000),
    most: "x".repeat(65_536),
    letters: "ü".repeat(40_000),
    "with:colon": "c",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
});
afterAll(() => rmSync(folder, { recursive: true }));

const context = () => ({ environment: { TOKEN: "t0ken" }, workingDirectory: folder });
const variables = { environment: {}, systemProperties: {} };
const jobWith = (...secrets: string[]) => readJob({ conf: ["tony.worker.command=true"], secrets }, { variables });
const valuesOf = (...secrets: string[]) => Object.fromEntries(readSecrets(jobWith(...secrets).settings, context()));

test("a secret is what its file holds, without the end of the line, or a variable of the client", () => {
  expect(valuesOf("A=file:token", `B=file:${path.join(folder, "token")}`, "C=env:TOKEN")).toEqual({
    A: 'a $ecret, with "quotes"',
    B: 'a $ecret, with "quotes"',
    C: "t0ken",
  });
  expect(valuesOf()).toEqual({});
  // Blanks are its own, and of several ends of lines only the last goes.
  expect(valuesOf("A=file:spaced")).toEqual({ A: " a b \r\n" });
  expect(valuesOf("A=file:with:colon")).toEqual({ A: "c" });
  expect(valuesOf("A=file:most").A).toHaveLength(65_536);
});

describe("a secret that cannot be had is named, with where it is asked for and its source:", () => {
  test.each([
    ["a file that is not there", "A=file:none", /none'/],
    ["a file without content", "A=file:empty", /file:empty is not set, or empty/],
    ["a variable that is not set", "A=env:NONE", /env:NONE is not set/],
    ["bytes that no variable can hold", "A=file:binary", /zero byte/],
    ["more than the credentials should hold", "A=file:long", /longer than 64 KiB/],
    ["more of it in bytes than in letters", "A=file:letters", /longer than 64 KiB/],
  ])("%s", (_, secret, problem) => {
    const failing = expect(() => valuesOf(secret));
    failing.toThrow(problem);
    failing.toThrow(/^--secret: the secret A: /);
    failing.toThrow(expect.objectContaining({ code: "SECRET_UNREADABLE" }));
  });
});

test("the error of a file that cannot be read is kept", () => {
  const cause = expect.objectContaining({ code: "ENOENT" });
  expect(() => valuesOf("A=file:none")).toThrow(expect.objectContaining({ cause }));
});

test("a check without a submission names the same; a variable may be set elsewhere", () => {
  const { settings } = jobWith("A=file:none", "B=env:NONE", "C=file:token");
  const at = "--secret";
  const key = "tony.application.secrets";
  expect(secretProblems(settings, context())).toStrictEqual([
    { severity: "error", key, at, message: expect.stringMatching(/^the secret A: its file cannot be read: .*none'$/) },
    { severity: "warning", key, at, message: "the secret B: env:NONE is not set, or empty" },
  ]);
});

test("a source is a file or a variable, never the value itself, which no error repeats", () => {
  const mistake = "NAME=file:PATH or NAME=env:VARIABLE pairs, never the value itself";
  expect(() => secretSources.parse("A=hunter2")).toThrow(new RangeError(mistake));
  expect(() => secretSources.parse("B=file:x,A=file:")).toThrow(new RangeError(mistake));
  expect(secretSources.parse("A=env:TOKEN,B=file:x")).toEqual({ A: "env:TOKEN", B: "file:x" });
});

test("secrets of programs are found again among those of a container, and no others", () => {
  const held = new Map([...programSecrets(new Map([["TOKEN", "grün"]])), ["tony.executor.secret", Buffer.from("x")]]);
  expect(programSecretsIn(held)).toEqual({ TOKEN: "grün" });
});
