import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
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
    "warning: venv: lib/python3.11/site-packages/mylib.pth refers to /home/ada/mylib of this machine, which is not sent with it: " +
      "install it without -e, or send it separately",
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

test("a folder that is sent is looked at as submit does: what it cannot pack is refused, what leads nowhere is warned of", async () => {
  const sources = join(workingDirectory, "src");
  mkdirSync(join(sources, ".venv/bin"), { recursive: true });
  writeFileSync(join(sources, ".venv/bin/tool"), "");
  writeFileSync(join(sources, "train.py"), "");
  symlinkSync("nowhere", join(sources, "dangling"));
  symlinkSync(".venv/bin/tool", join(sources, "tool"));
  const options = ["-executes", "train.py", "-conf", "tony.worker.instances=1", "--src_dir", "src"];
  const warned = await validating(...options);
  expect(await warned.exitCode).toBe(0);
  expect(warned.context.err.text).toContain(
    "src-dir: dangling is a link to nowhere, which does not exist (and 1 more like it)",
  );
  const server = createServer().listen(join(sources, "socket"));
  await once(server, "listening");
  const refused = await validating(...options);
  expect(await refused.exitCode).toBe(2);
  expect(refused.context.err.text).toContain("src/socket is a socket, a pipe or a device: remove it from the folder");
  await new Promise((resolve) => server.close(resolve));
  writeFileSync(Buffer.from(`${sources}/caf\xe9`, "latin1"), "");
  const unnamed = await validating(...options);
  expect(await unnamed.exitCode).toBe(2);
  expect(unnamed.context.err.text).toContain("has a name that is not UTF-8: rename it, or remove it");
});

test.each(["tony.worker.resources", "tony.am.resources", "tony.containers.resources"])(
  "a folder of %s is looked at, too",
  async (key) => {
    mkdirSync(join(workingDirectory, "data"));
    symlinkSync("nowhere", join(workingDirectory, "data/dangling"));
    const settings = ["tony.worker.instances=1", `${key}=data`];
    const conf = settings.flatMap((setting) => ["-conf", setting]);
    const { exitCode, context } = await validating("-executes", "true", ...conf);
    expect(await exitCode).toBe(0);
    expect(context.err.text).toContain("dangling is a link to nowhere, which does not exist");
    expect(context.out.text).toMatch(/ \(1 warning\)$/m);
  },
);

test("a command that uses what stays behind of --src_dir is warned of, with what brings it along", async () => {
  const sources = join(workingDirectory, "src");
  for (const folder of [".venv/bin", "env/bin", "data/raw"]) mkdirSync(join(sources, folder), { recursive: true });
  for (const file of [".venv/pyvenv.cfg", ".venv/bin/activate", "env/pyvenv.cfg", "env/bin/python", "data/raw/a"]) {
    writeFileSync(join(sources, file), "");
  }
  writeFileSync(join(sources, ".tonyignore"), "data\n");
  const said = async (command: string) => {
    const conf = ["-conf", "tony.worker.instances=1", "-conf", `tony.worker.command=${command}`];
    const { exitCode, context } = await validating("--executes", command, ...conf, "--src_dir", "src");
    expect(await exitCode).toBe(0);
    return context.err.text;
  };
  expect(await said(". .venv/bin/activate && python3 -m train")).toContain(
    "tony.worker.command uses .venv/bin/activate, which stays behind: --src_dir leaves out .venv; " +
      `send it with --python_venv ${sources}/.venv, and write venv/bin/activate`,
  );
  expect(await said("exec ./env/bin/python -m train")).toContain("write venv/bin/python");
  expect(await said("PATH=$PWD/env/bin:$PATH python3 -m train")).toContain("write venv/bin");
  expect(await said("python3 -m train --data=data/raw/a")).toContain(
    `uses data/raw/a, which stays behind: --src_dir leaves out data; to send it, end ${sources}/.tonyignore with !data`,
  );
  expect(await said("python3 -m venv .venv && .venv/bin/python -m train")).not.toContain("stays behind");
  writeFileSync(join(sources, ".tonyignore"), "data\n!data\n!.venv\n");
  expect(await said(". .venv/bin/activate && python3 -m train --data=data/raw/a")).not.toContain("stays behind");
});
