import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { commands } from "../../../client/commands/commands.ts";
import { recordedContext } from "../support.ts";

let workingDirectory: string;
beforeEach(() => {
  workingDirectory = mkdtempSync(join(tmpdir(), "validate-"));
});
afterEach(() => rmSync(workingDirectory, { recursive: true }));

async function validating(...words: readonly string[]) {
  const parsed = await parseArguments(["validate", ...words], commands);
  if (!("run" in parsed)) throw new Error("nothing to run");
  const context = recordedContext({ workingDirectory });
  return { exitCode: parsed.run(context), context };
}

test("without a file it names the one that lies there", async () => {
  writeFileSync(join(workingDirectory, "job.xml"), "<configuration/>");
  const { exitCode } = await validating();
  await expect(exitCode).rejects.toThrow("Which job? Give the file: tony-ts validate job.xml");
});

test("a folder is no job, and a secret whose file is missing makes one invalid", async () => {
  const folder = await validating(workingDirectory);
  expect(await folder.exitCode).toBe(2);
  expect(folder.context.err.text).toContain(`${workingDirectory} is a folder: name a file`);

  const file = join(workingDirectory, "job.xml");
  const properties = {
    "tony.worker.instances": "1",
    "tony.worker.command": "true",
    "tony.application.secrets": "A=file:no",
  };
  const xml = Object.entries(properties).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  writeFileSync(file, `<configuration>${xml.join("")}</configuration>`);
  const secret = await validating(file);
  expect(await secret.exitCode).toBe(2);
  expect(secret.context.err.text).toContain("the secret A: its file cannot be read");
});

test("an environment with a package in editable mode is warned of, with the mend", async () => {
  const packages = join(workingDirectory, "env/lib/python3.11/site-packages");
  mkdirSync(packages, { recursive: true });
  writeFileSync(join(packages, "mylib.pth"), "/home/ada/mylib\n");
  const options = ["--executes", "train", "-conf", "tony.worker.instances=1", "--python_venv", "env"];
  const unlikeAny = await validating(...options);
  expect(await unlikeAny.exitCode).toBe(0);
  expect(unlikeAny.context.err.text).not.toContain("mylib.pth");

  writeFileSync(join(workingDirectory, "env/pyvenv.cfg"), "home = /usr/bin\n");
  const { exitCode, context } = await validating(...options);
  expect(await exitCode).toBe(0);
  expect(context.err.text).toContain(
    "warning: venv: lib/python3.11/site-packages/mylib.pth refers to /home/ada/mylib of this machine, which does not go along: " +
      "install that without -e",
  );
});

test("a tony.xml in the working directory, where TonY's class path may have it, is asked for and warned of", async () => {
  writeFileSync(join(workingDirectory, "tony.xml"), "<configuration/>");
  const nothing = await validating();
  await expect(nothing.exitCode).rejects.toThrow("Which job? Give the file: tony-ts validate tony.xml");
  const { exitCode, context } = await validating("--executes", "train", "-conf", "tony.worker.instances=1");
  expect(await exitCode).toBe(0);
  expect(context.err.text).toContain(
    "tony.xml: warning: is not read: give it, if it is the job's: tony-ts validate tony.xml …",
  );
});
