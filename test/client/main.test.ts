import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "@jest/globals";
import { completionWord } from "../../client/command-line/completion.ts";
import { TestBundle } from "../support/bundle.ts";

const bundle = new TestBundle("client/main.ts");
const home = mkdtempSync(path.join(tmpdir(), "tony-main-"));
afterAll(() => {
  bundle.remove();
  rmSync(home, { recursive: true });
});

/** Runs the program as a person does, where no cluster is. */
async function run(...words: readonly string[]) {
  return await runWith({}, ...words);
}

async function runWith(more: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: home, HADOOP_HOME: "/nowhere", ...more };
  const child = spawn(process.execPath, [bundle.file, ...words], { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { exitCode, out, err };
}

const unknownJob = ["status", "local_1_0001"];
const noSuchJob = /^tony-ts: There is no local_1_0001 in .*\n$/;

describe("the program tony-ts", () => {
  test.each([
    [["--version"], /^test\n$/],
    [["status", "--help"], /^tony-ts status <application>\n/],
    [["keys", "tony.worker.memory"], /^tony\.\{role\}\.memory {2}\(memory, default 2g\)\n/],
    [[completionWord, "tony-ts", "wai"], /^wait\b/m],
    [[completionWord, "tony-ts", "keys", "tony.worker.mem"], /^tony\.worker\.memory$/m],
    [[completionWord, "tony-ts", "status", ""], /^\n?$/],
  ])("prints what %j asks for, and nothing else, and exits with 0", async (words, printed) => {
    expect(await run(...words)).toEqual({ exitCode: 0, out: expect.stringMatching(printed), err: "" });
  });

  test.each([
    [
      "a command that there is not",
      ["sumbit"],
      2,
      /^tony-ts: unknown command: sumbit\n {2}Did you mean tony-ts submit\?\n$/,
    ],
    ["nothing", [], 2, /^tony-ts: Runs distributed machine-learning jobs/],
    ["a job that there is not", unknownJob, 3, noSuchJob],
    ["a cluster that there is not", ["nodes"], 3, /^tony-ts: HADOOP_CONF_DIR is not set/],
  ])("says what is wrong on stderr, and exits by it: %s", async (_what, words, exitCode, said) => {
    expect(await run(...words)).toEqual({ exitCode, out: "", err: expect.stringMatching(said) });
  });

  test("tells programs, too, of a command line that cannot be read among others", async () => {
    const { exitCode, out, err } = await run(...unknownJob, "--json");
    expect({ exitCode, err }).toEqual({ exitCode: 3, err: expect.stringMatching(noSuchJob) });
    expect(JSON.parse(out)).toEqual({
      jsonVersion: 1,
      exitCode: 3,
      error: { code: "APPLICATION_NOT_FOUND", message: expect.stringMatching(/^There is no/), retryable: false },
    });
    const unread = await run("status", "--json", "--bogus");
    expect(JSON.parse(unread.out)).toMatchObject({ exitCode: 2, error: { code: "USAGE" } });
  });

  test("is no JSON that a command behind -- is asked for", async () => {
    const { exitCode, out } = await run("exec", "local_1_0001", "worker:0", "--", "tool", "--json");
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: "" });
  });

  test.each(["wait", "attach", "logs"])("%s: who reads events reads an end, the last of them", async (verb) => {
    const { exitCode, out } = await run(verb, "local_1_0001", "--json");
    expect([exitCode, JSON.parse(out)]).toEqual([
      3,
      {
        event: "end",
        outcome: null,
        error: expect.objectContaining({ code: "APPLICATION_NOT_FOUND" }),
        exitCode: 3,
        jsonVersion: 1,
      },
    ]);
  });

  test.each(["-debug", "--debug"])("with %s shows where an error comes from; without it does not", async (debug) => {
    expect((await run(...unknownJob, debug)).err).toMatch(/^tony-ts: There is no .*\nTonyError: .*\n +at /);
  });

  test.each(["stdout", "stderr"] as const)("ends as it would although nobody reads its %s", async (closed) => {
    const words = closed === "stdout" ? ["keys"] : unknownJob;
    const env = { PATH: process.env.PATH, HOME: home, HADOOP_HOME: "/nowhere" };
    const child = spawn(process.execPath, [bundle.file, ...words], {
      cwd: home,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child[closed].destroy();
    const other = closed === "stdout" ? child.stderr : child.stdout;
    const [said, [exitCode]] = await Promise.all([text(other), once(child, "exit")]);
    expect({ said, exitCode }).toEqual({ said: "", exitCode: closed === "stdout" ? 0 : 3 });
  });

  test("tells a defect of its own, and does not end as if a job had failed", async () => {
    const broken = path.join(home, "broken.cjs");
    const defect = 'process.nextTick(() => { throw new Error("a defect"); })';
    writeFileSync(broken, `process.on("newListener", (name) => name === "uncaughtException" && ${defect});`);
    const { exitCode, err } = await runWith({ NODE_OPTIONS: `--require ${broken}` }, ...unknownJob);
    expect({ exitCode, err }).toEqual({ exitCode: 5, err: expect.stringContaining("a defect") });
  });

  test("needs a folder that is there", async () => {
    const gone = mkdtempSync(path.join(tmpdir(), "tony-gone-"));
    const line = `cd ${gone} && rmdir ${gone} && exec ${process.execPath} ${bundle.file} list`;
    const child = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(err).toMatch(/^tony-ts: the current folder no longer exists: .*\n$/);
  });
});
