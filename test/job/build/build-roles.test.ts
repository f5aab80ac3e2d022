import { describe, expect, test } from "@jest/globals";
import { minimalJob, saidAbout, specOf } from "../support.ts";

const PREPROCESS = "tony.application.enable-preprocess";
const noTasks = { "tony.worker.instances": "0" };

describe("a job without tasks", () => {
  test("runs its command in the ApplicationMaster's container", () => {
    const { roles, leadTask, am } = specOf({ ...noTasks, "tony.am.command": "python3 all.py", "tony.am.vcores": "2" });
    expect(roles).toHaveLength(1);
    expect(roles[0]).toMatchObject({
      name: "driver",
      instances: 1,
      command: "python3 all.py",
      inMaster: true,
      tracking: "tracked",
      resource: { memoryMiB: 2048, vcores: 2, others: {} },
      environment: { PREPROCESSING_JOB: "true" },
    });
    expect(am.resource.memoryMiB).toBe(2048);
    expect(leadTask).toBe("driver:0");
  });

  test("runs the command of all containers where it has no other", () => {
    expect(specOf(noTasks).roles[0]?.command).toBe(minimalJob["tony.containers.command"]);
  });

  test("asks for the memory that it names", () => {
    expect(specOf({ ...noTasks, "tony.am.memory": "512m" }).roles[0]?.resource.memoryMiB).toBe(512);
  });

  test("is refused where its command stands without text", () => {
    expect(saidAbout({ "tony.am.command": " " })).toEqual([
      "job.xml:1: tony.am.command is empty: write what the job runs, or set tony.worker.instances",
    ]);
  });

  test("that has tasks does not run tony.am.command, and says so", () => {
    expect(saidAbout({ ...minimalJob, "tony.am.command": "prepare" })).toEqual([
      "job.xml:3: warning: tony.am.command has no effect: the job has tasks, and tony.application.enable-preprocess is not true",
    ]);
  });

  test("and without a command is refused", () => {
    expect(saidAbout(noTasks).join("\n")).toContain(
      "a job without roles needs tony.am.command or tony.containers.command",
    );
  });
});

describe("preprocessing", () => {
  test("comes before every other role", () => {
    const { roles, leadTask } = specOf({ [PREPROCESS]: "true", "tony.am.command": "python3 first.py" });
    expect(roles.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
      ["driver", undefined],
      ["worker", ["driver"]],
    ]);
    expect(leadTask).toBe("worker:0");
  });

  test("comes before the first stage", () => {
    const { roles } = specOf({
      [PREPROCESS]: "true",
      "tony.prep.instances": "1",
      "tony.application.prepare-stage": "prep",
    });
    expect(Object.fromEntries(roles.map(({ name, dependsOn }) => [name, dependsOn]))).toEqual({
      driver: undefined,
      prep: ["driver"],
      worker: ["driver", "prep"],
    });
  });

  test("is refused where a role has the name of its task", () => {
    expect(saidAbout({ ...minimalJob, [PREPROCESS]: "true", "tony.driver.instances": "1" }).join("\n")).toContain(
      `${PREPROCESS} runs a task of role driver, and the job has a role of that name: call it something else`,
    );
  });
});

describe("a command for all containers", () => {
  const command = { "tony.containers.command": "date" };

  test("has no effect where every role has its own", () => {
    expect(saidAbout({ ...command, "tony.worker.instances": "1", "tony.worker.command": "true" })).toEqual([
      "job.xml:1: warning: tony.containers.command has no effect: every role has a command of its own",
    ]);
  });

  test.each([
    { "tony.application.tensorboard-log-dir": "/logs" },
    { "tony.viewer.instances": "1", "tony.viewer.command": "true", "tony.application.sidecar.jobtypes": "viewer" },
  ])("runs in the ApplicationMaster's container beside sidecars alone", (sidecar) => {
    expect(saidAbout({ ...command, ...sidecar })).toEqual([]);
  });
});
