import { describe, expect, test } from "@jest/globals";
import { commandOf, environmentOf, jobOf } from "./support.ts";

const generic = { "tony.application.framework": "generic" };

describe("templates of any program", () => {
  const written = (command: string) => jobOf({ worker: 2, ps: 1 }, { ...generic, "tony.containers.command": command });

  test.each([
    ["run --role {{role}} --index {{index}} --of {{count}}", "run --role worker --index 1 --of 2"],
    ["run --listen {{host}}:{{port}}", "run --listen n1:5001"],
    ["run --peers {{spec.worker}} --ps {{ spec.ps }}", "run --peers n1:5000,n1:5001 --ps n1:5002"],
    ["run '{{spec.json}}'", `run '{"worker":["n1:5000","n1:5001"],"ps":["n1:5002"]}'`],
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
        /tony\.ps\.command has \{\{port\.rpc\}\}, which is none of .*spec\.worker\.rpc/,
      );
    });
  });

  test("stand in the values of its environment as well", () => {
    const spec = jobOf({ worker: 2 }, { ...generic, "tony.execution.envs": "PEERS={{spec.worker}}" });
    expect(environmentOf(spec, "worker:0").PEERS).toBe("n1:5000,n1:5001");
  });

  test("are another language's in other frameworks", () => {
    const spec = jobOf({ worker: 1 }, { "tony.containers.command": "run {{role}}" });
    expect(commandOf(spec, "worker:0")).toBe("run {{role}}");
  });
});
