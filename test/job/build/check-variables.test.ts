import { execFileSync } from "node:child_process";
import { describe, expect, test } from "@jest/globals";
import { minimalJob, saidAbout } from "../support.ts";

describe("a variable that programs get from tony-ts", () => {
  test.each(["tony.execution.envs", "tony.worker.envs", "tony.containers.envs"])("is warned of in %s", (key) => {
    expect(saidAbout({ ...minimalJob, [key]: "JOB_NAME=hack,MINE=1,TONY_PORT=8032" })).toEqual([
      `job.xml:3: warning: ${key} sets JOB_NAME and TONY_PORT, which have no effect: tony-ts sets that itself for every program; take another name`,
    ]);
  });

  test("is no other, nor Python's own, which a job may set", () => {
    expect(saidAbout({ ...minimalJob, "tony.execution.envs": "MINE=1,PYTHONFAULTHANDLER=1" })).toEqual([]);
  });

  test("is warned of as a secret, too", () => {
    expect(saidAbout({ ...minimalJob, "tony.application.secrets": "JOB_ID=env:X" })[0]).toContain("sets JOB_ID, which");
  });
});

test("a command in a value of tony.containers.envs, which TonY's shell runs, is warned of with the mend", () => {
  const key = "tony.containers.envs";
  expect(saidAbout({ ...minimalJob, [key]: "HOST=$(hostname -f),HOME2=$HOME,PRICE=\\$(5)" })).toEqual([
    "job.xml:3: warning: tony.containers.envs HOST: commands in a value are not run, only variables such as $HOME are expanded: " +
      "set it in the command: export HOST=…; …",
  ]);
  expect(saidAbout({ ...minimalJob, "tony.worker.envs": "HOST=$(hostname)" })).toEqual([]);
});

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
