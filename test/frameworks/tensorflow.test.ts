import { describe, expect, test } from "@jest/globals";
import { environmentOf, jobOf } from "./support.ts";

describe("TensorFlow", () => {
  test("the exact words of a parameter server job", () => {
    const spec = jobOf({ ps: 1, worker: 2 });
    const environment = environmentOf(spec, "worker:1", { hosts: ["n1", "n2"] });
    expect(environment.CLUSTER_SPEC).toBe('{"ps":["n1:5000"],"worker":["n2:5001","n1:5002"]}');
    expect(environment.TF_CONFIG).toBe(
      '{"task":{"type":"worker","index":1},"cluster":{"ps":["n1:5000"],"worker":["n2:5001","n1:5002"]}}',
    );
  });

  test("an evaluator is in nobody's cluster but its own", () => {
    const spec = jobOf({ chief: 1, worker: 1, evaluator: 1 });
    expect(environmentOf(spec, "worker:0").TF_CONFIG).toBe(
      '{"task":{"type":"worker","index":0},"cluster":{"chief":["n1:5000"],"worker":["n1:5001"]}}',
    );
    expect(environmentOf(spec, "evaluator:0").TF_CONFIG).toBe(
      '{"task":{"type":"evaluator","index":0},"cluster":{"chief":["n1:5000"],"worker":["n1:5001"],"evaluator":["n1:5002"]}}',
    );
    expect(environmentOf(spec, "worker:0").CLUSTER_SPEC).toContain('"evaluator"');
  });

  test("TensorBoard and other sidecars are not in the cluster", () => {
    const spec = jobOf(
      { worker: 1, notebook: 1 },
      {
        "tony.application.tensorboard-log-dir": "/logs",
        "tony.application.sidecar.jobtypes": "notebook",
      },
    );
    const cluster = '"cluster":{"worker":["n1:5000"]}}';
    expect(environmentOf(spec, "worker:0").TF_CONFIG).toBe(`{"task":{"type":"worker","index":0},${cluster}`);
    expect(environmentOf(spec, "worker:0").CLUSTER_SPEC).toBe(
      '{"worker":["n1:5000"],"notebook":["n1:5001"],"tensorboard":["n1:5002"]}',
    );
  });

  test("roles of other stages are not in the cluster, and listed only where they run", () => {
    const spec = jobOf(
      { prepare: 1, store: 1, worker: 1 },
      { "tony.application.untracked.jobtypes": "store", "tony.worker.depends-on": "prepare" },
    );
    const tasks = [
      { task: "store:0", host: "n1", port: 5001 },
      { task: "worker:0", host: "n1", port: 5002 },
    ];
    const environment = environmentOf(spec, "worker:0", { cluster: { generation: 2, tasks } });
    expect(environment.CLUSTER_SPEC).toBe('{"store":["n1:5001"],"worker":["n1:5002"]}');
    expect(environment.TF_CONFIG).toBe('{"task":{"type":"worker","index":0},"cluster":{"worker":["n1:5002"]}}');
  });

  test("IPv6 hosts are bracketed", () => {
    expect(environmentOf(jobOf({ worker: 1 }), "worker:0", { hosts: ["fd00::1"] }).CLUSTER_SPEC).toBe(
      '{"worker":["[fd00::1]:5000"]}',
    );
  });

  test("gets no variables of PyTorch", () => {
    expect(environmentOf(jobOf({ worker: 1 }), "worker:0")).not.toHaveProperty("RANK");
  });
});
