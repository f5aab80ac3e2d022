import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { minimalJob, saidAbout } from "../support.ts";

const most = 131_071;
const command = (bytes: number) => `true ${"x".repeat(bytes - "true ".length)}`;
const runs = (text: string, variable = "") => {
  try {
    execFileSync("/bin/bash", ["-c", text], { env: { X: variable }, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

test("a command that Linux does not start is refused, with its key and the mend", () => {
  expect(runs(command(most))).toBe(true);
  expect(runs(command(most + 1))).toBe(false);
  const key = "tony.containers.command";
  expect(saidAbout({ ...minimalJob, [key]: command(most) })).toEqual([]);
  expect(saidAbout({ ...minimalJob, [key]: command(most + 1) })).toEqual([
    "job.xml:2: tony.containers.command has 131072 bytes, and Linux starts nothing with more than 131071: put it into a script",
  ]);
});

test.each(["tony.execution.envs", "tony.containers.envs", "tony.worker.envs"])("so is a variable of %s", (key) => {
  const value = (bytes: number) => "x".repeat(bytes - "X=".length);
  expect(runs("true", value(most))).toBe(true);
  expect(runs("true", value(most + 1))).toBe(false);
  expect(saidAbout({ ...minimalJob, [key]: `X=${value(most)}` })).toEqual([]);
  expect(saidAbout({ ...minimalJob, [key]: `X=${value(most + 1)}` })).toEqual([
    `job.xml:3: ${key} makes X 131072 bytes long, and Linux starts nothing with more than 131071: put the value into a file that the job ships, and its path here`,
  ]);
});
