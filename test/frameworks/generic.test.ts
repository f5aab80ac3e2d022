import { describe, expect, test } from "@jest/globals";
import { taskProgram } from "../../src/frameworks/task-program.ts";
import { formatProblem } from "../../src/job/problem.ts";
import { check } from "../job/support.ts";
import { commandOf, environmentOf, jobOf, startOf } from "./support.ts";

const generic = { "tony.application.framework": "generic" };

describe("templates of any program", () => {
  const written = (command: string) => jobOf({ worker: 2, ps: 1 }, { ...generic, "tony.containers.command": command });

  test.each([
    ["run --role {{role}} --index {{index}} --of {{count}}", "run --role worker --index 1 --of 2"],
    ["run --listen {{host}}:{{port}}", "run --listen n1:5001"],
    ["run --peers {{spec.worker}} --ps {{ spec.ps }}", "run --peers n1:5000,n1:5001 --ps n1:5002"],
    ["run '{{spec.json}}'", `run '{"worker":["n1:5000","n1:5001"],"ps":["n1:5002"]}'`],
    [String.raw`run \{{index}} \\{{x}}`, String.raw`run {{index}} \{{x}}`],
    ["docker ps --format '{{.ID}}' && echo ${#a[@]}", "docker ps --format '{{.ID}}' && echo ${#a[@]}"],
  ])("%s", (command, run) => {
    expect(commandOf(written(command), "worker:1")).toBe(run);
  });

  describe("of ports that a role gives names", () => {
    const named = { ...generic, "tony.worker.ports": "rpc,web-ui" };
    const run = (command: string) =>
      commandOf(jobOf({ worker: 2, ps: 1 }, { ...named, "tony.worker.command": command }), "worker:1");

    test.each([
      ["run {{port.rpc}} {{port.web-ui}}", "run 6001 7001"],
      ["run {{spec.worker.web-ui}}", "run n1:7000,n1:7001"],
      [
        "run '{{spec.json}}'",
        `run '{"worker":["n1:5000","n1:5001"],"ps":["n1:5002"],"worker.rpc":["n1:6000","n1:6001"],"worker.web-ui":["n1:7000","n1:7001"]}'`,
      ],
    ])("%s", (command, filled) => {
      expect(run(command)).toBe(filled);
    });

    test("are refused where the role has none of that name", () => {
      const keys = { ...named, "tony.ps.command": "run {{port.rpc}}" };
      expect(() => jobOf({ worker: 1, ps: 1 }, keys)).toThrow(
        /tony\.ps\.command has \{\{port\.rpc\}\}, which is not one of .*spec\.worker\.rpc/,
      );
    });
  });

  test("stand in the values of its environment as well", () => {
    const spec = jobOf({ worker: 2 }, { ...generic, "tony.execution.envs": "PEERS={{spec.worker}}" });
    expect(environmentOf(spec, "worker:0").PEERS).toBe("n1:5000,n1:5001");
  });

  describe("of a role that does not run beside the task", () => {
    const keys = {
      ...generic,
      "tony.containers.command": "true",
      "tony.report.depends-on": "eval",
      "tony.eval.depends-on": "worker",
    };
    const saidOf = (more: Readonly<Record<string, string>>) => {
      const instances = Object.fromEntries(["worker", "eval", "report"].map((role) => [`tony.${role}.instances`, "1"]));
      return check({ ...instances, ...keys, ...more })
        .problems.map(formatProblem)
        .join("\n");
    };

    test("are refused: it is done, or not asked for yet", () => {
      expect(saidOf({ "tony.report.command": "run {{spec.worker}}" })).toMatch(
        /tony\.report\.command has {{spec\.worker}}: worker is done when report is asked for$/,
      );
      expect(saidOf({ "tony.worker.envs": "R={{spec.report}}" })).toMatch(
        /tony\.worker\.envs has {{spec\.report}}: report is asked for when worker is done$/,
      );
    });

    test("may be of one that nobody waits for", () => {
      const ps = { "tony.ps.instances": "1", "tony.application.untracked.jobtypes": "ps" };
      expect(saidOf({ ...ps, "tony.eval.depends-on": "worker", "tony.eval.command": "run {{spec.ps}}" })).toBe("");
    });

    test("of roles that wait for each other are no reason to hang", () => {
      expect(saidOf({ "tony.worker.depends-on": "report", "tony.worker.command": "run {{spec.report}}" })).toContain(
        "wait for each other",
      );
    });
  });

  describe("that nothing fills", () => {
    const problemsOf = (command: string, keys: Readonly<Record<string, string>> = {}) =>
      check({ ...generic, "tony.worker.instances": "2", "tony.worker.command": command, ...keys }).problems;

    test("are refused by name: there is no search whose parameters they could be", () => {
      expect(problemsOf("run {{param.lr}}")).toMatchObject([
        {
          severity: "error",
          key: "tony.worker.command",
          message: expect.stringMatching(/command has {{param\.lr}}, which is/),
        },
      ]);
    });

    test("are refused where programs start before the others are there", () => {
      const fcfs = { "tony.application.distributed-mode": "FCFS" };
      expect(problemsOf("run {{spec.worker}}", fcfs)).toMatchObject([
        {
          severity: "error",
          key: "tony.worker.command",
          message:
            "tony.worker.command has {{spec.worker}}, which is not known in tony.application.distributed-mode = fcfs",
        },
      ]);
    });
  });

  test("list the tasks that are there, and none of a role that has none", () => {
    const spec = jobOf({ worker: 3, ps: 1 }, { ...generic, "tony.containers.command": "run '{{spec.json}}'" });
    const start = startOf(spec, "worker:0");
    const there = (start.cluster?.tasks ?? []).filter(({ task }) => task.startsWith("worker:") && task !== "worker:1");
    const { command } = taskProgram({}, { ...start, cluster: { generation: 1, tasks: there } });
    expect(command).toBe(`run '{"worker":["n1:5000","n1:5002"],"ps":[]}'`);
  });

  test("are another language's in other frameworks", () => {
    const spec = jobOf({ worker: 1 }, { "tony.containers.command": "run {{role}}" });
    expect(commandOf(spec, "worker:0")).toBe("run {{role}}");
  });
});
