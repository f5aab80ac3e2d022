import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { completionScript, completions, completionWord } from "../../../client/command-line/completion.ts";
import { commands } from "../../../client/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { LocalMachine } from "../commands/local-machine.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { StandInCluster } from "../submission/stand-in-cluster.ts";
import { recordedContext } from "../support.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "tony-completion-"));
});
afterEach(() => rmSync(home, { recursive: true }));

/** The words for `tony-ts …` with the cursor at the end of the last one, on a machine that ran one local job, and no cluster. */
async function words(...typed: string[]): Promise<string[] | undefined> {
  const folder = path.join(home, ".local/state/tony-ts/local/local_1795305600000_0001");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "status.json"), JSON.stringify(aJobStatus({ outcome })));
  const environment = { HOME: home, HADOOP_HOME: "/nowhere", SHELL: "/bin/bash" };
  return await completions([completionWord, "tony-ts", ...typed], recordedContext({ environment }));
}
const outcome = { ...allSucceeded, endedAtMs: 1 };

describe("words that may follow", () => {
  test("are a job's tasks and roles, and its AM", async () => {
    expect(await words("logs", "local_1795305600000_0001", "")).toEqual([
      "am",
      "worker",
      "ps",
      "worker:0",
      "worker:1",
      "ps:0",
    ]);
    expect(await words("get", "local_1795305600000_0001", "")).toContain("worker:1");
    expect(await words("logs", "local_1_0001", "")).toEqual([]);
  });

  test("are the keys that there are, a role's as a worker's", async () => {
    const names = await words("keys", "tony.");
    expect(names).toEqual(expect.arrayContaining(["tony.yarn.queue", "tony.worker.memory"]));
    expect(names?.filter((name) => name.includes("{"))).toEqual([]);
  });

  test("are ids of jobs that run: none of one that has ended", async () => {
    expect(await words("kill", "")).toEqual([]);
  });

  test("are the jobs of this machine that run, several of them for kill alone", async () => {
    const machine = new LocalMachine();
    const running = async (...typed: string[]) =>
      await completions([completionWord, "tony-ts", ...typed], recordedContext({ environment: machine.environment }));
    try {
      machine.ended(3_600, "succeeded");
      const { id } = await machine.running();
      expect(await running("status", "")).toEqual([id]);
      expect(await running("attach", "--own", "lo")).toEqual([id]);
      expect(await running("kill", id, "")).toEqual([id]);
      expect(await running("status", id, "")).toEqual([]);
      expect(await running("logs", id, "worker:0", "")).toEqual([]);
      expect(await running("kv", id, "")).toEqual([]);
    } finally {
      await machine.dispose();
    }
  });

  test("are the running applications of the cluster, also where this machine's jobs cannot be listed", async () => {
    const there = await StandInCluster.start();
    try {
      const own = { user: there.applicant, state: "RUNNING" } as const;
      there.manager.has({ id: "application_1_0001", ...own }, { id: "application_1_0002", ...own, state: "FINISHED" });
      const environment = { ...there.context.environment, XDG_STATE_HOME: there.file("state", "") };
      const context = { ...there.context, environment };
      expect(await completions([completionWord, "tony-ts", "status", ""], context)).toEqual(["application_1_0001"]);
      await eventually("all to leave the ResourceManager", () => there.manager.callers === 0, 3_000);
    } finally {
      await there.stop();
    }
  });

  test("are a search's trials beside its tasks, each once", async () => {
    const machine = new LocalMachine();
    const environment = { ...machine.environment, SHELL: "/usr/bin/zsh" };
    try {
      const search = { metric: "loss", direction: "minimize", parameters: ["x"], command: "t" } as const;
      const trial = (task: string) =>
        ({ task, state: "succeeded", restarts: 0, trial: { state: "completed" } }) as const;
      const id = machine.ended(60, "succeeded", { search, tasks: [trial("worker:0"), trial("worker:1")] });
      const context = recordedContext({ environment });
      expect(await completions([completionWord, "tony-ts", "get", id, ""], context)).toEqual([
        ...["am", "worker", "ps"],
        ...["worker\\:0", "worker\\:1", "trial\\:0", "trial\\:1"],
      ]);
    } finally {
      await machine.dispose();
    }
  });

  test("are a hundred tasks of a job that has more", async () => {
    const machine = new LocalMachine();
    try {
      const tasks = Array.from({ length: 101 }, (_, index) => {
        return { task: `worker:${index}`, state: "succeeded", restarts: 0 } as const;
      });
      const id = machine.ended(60, "succeeded", { tasks });
      const { environment } = machine;
      const found = await completions([completionWord, "tony-ts", "logs", id, ""], recordedContext({ environment }));
      expect(found?.filter((word) => word.startsWith("worker:"))).toHaveLength(100);
    } finally {
      await machine.dispose();
    }
  });

  test("are left to the shell where a file is wanted, and to the parser elsewhere", async () => {
    expect(await words("submit", "jo")).toEqual([]);
    expect(await words("submit", "--")).toBeUndefined();
    expect(await words("lo")).toBeUndefined();
    const parsed = await parseArguments([completionWord, "tony-ts", "wa"], commands);
    expect("text" in parsed && parsed.text.split("\n")).toContain("wait");
  });
});

describe("the script for bash", () => {
  test("completes a task at its colon, where bash divides words", () => {
    const bin = path.join(home, "tony-ts");
    writeFileSync(bin, "#!/bin/sh\nprintf 'am\\nworker:0\\nworker:1\\nps:0\\n'\n", { mode: 0o755 });
    const complete = (line: string) =>
      execFileSync(
        "bash",
        [
          "-c",
          `${completionScript("bash")}\nCOMP_LINE='${line}' COMP_POINT=${line.length}\n_tony_ts; echo "\${COMPREPLY[@]}"`,
        ],
        {
          env: { PATH: `${home}:${process.env.PATH}` },
          encoding: "utf8",
        },
      ).trim();
    expect(complete("tony-ts logs job_1 w")).toBe("worker:0 worker:1");
    expect(complete("tony-ts logs job_1 worker:")).toBe("0 1");
    expect(complete("tony-ts logs job_1 ")).toBe("am worker:0 worker:1 ps:0");
  });
});
