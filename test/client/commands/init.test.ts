import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { init } from "../../../client/commands/init.ts";
import { ExitCode } from "../../../src/errors.ts";
import { recordedContext } from "../support.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-init-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What `tony-ts init …` prints, run in the folder. */
async function printed(...words: string[]): Promise<string> {
  const parsed = await parseArguments(["init", ...words], [init]);
  if ("text" in parsed) throw new Error(parsed.text);
  const context = recordedContext({ workingDirectory: folder });
  expect(await parsed.run(context)).toBe(ExitCode.succeeded);
  return context.out.text;
}

describe("tony-ts init", () => {
  test("writes a job and its program, and says how to run it", async () => {
    expect(await printed("pytorch")).toBe("Wrote job.xml, train.py\n  tony-ts submit job.xml\n");
    expect(readdirSync(folder).sort()).toEqual(["job.xml", "train.py"]);
    expect(readFileSync(path.join(folder, "train.py"), "utf8")).toBe(
      readFileSync("examples/pytorch-digits/train.py", "utf8"),
    );
    expect(readFileSync(path.join(folder, "job.xml"), "utf8")).toContain("<!-- The queue to submit to.");
  });

  test("starts with the smallest job, in a folder of its own when one is named", async () => {
    expect(await printed("hello", "--directory", "jobs/first")).toBe(
      "Wrote jobs/first/job.xml, jobs/first/hello.sh\n  tony-ts submit jobs/first/job.xml\n",
    );
    expect(readdirSync(path.join(folder, "jobs/first")).sort()).toEqual(["hello.sh", "job.xml"]);
    await printed();
    expect(readdirSync(folder)).toContain("hello.sh");
  });

  test("writes a search, and says how to run it", async () => {
    expect(await printed("search")).toBe("Wrote job.xml, train.py\n  tony-ts search job.xml\n");
  });

  test("replaces nothing unless told to", async () => {
    writeFileSync(path.join(folder, "train.py"), "mine");
    await expect(printed("tensorflow")).rejects.toThrow(
      /^train.py is already in .*; give another --directory, or --force to replace$/,
    );
    expect(readdirSync(folder)).toEqual(["train.py"]);
    writeFileSync(path.join(folder, "job.xml"), "mine too");
    await expect(printed("tensorflow")).rejects.toThrow(/^job.xml and train.py are already in /);
    await printed("tensorflow", "--force");
    expect(readFileSync(path.join(folder, "train.py"), "utf8")).not.toBe("mine");
  });

  test("names the templates when there is not one of that name", async () => {
    await expect(printed("keras")).rejects.toThrow(
      'There is no "keras" to start from: choose hello, pytorch, tensorflow, torchrun, deepspeed, horovod, jax, dask, ray, mpi, generic, search',
    );
  });

  test("says which folder cannot be written", async () => {
    writeFileSync(path.join(folder, "file"), "");
    await expect(printed("hello", "--directory", "file/inside")).rejects.toThrow(/file\/inside cannot be written/);
  });
});
