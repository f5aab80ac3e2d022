import { describe, expect, test } from "@jest/globals";
import { taskFacts } from "../../../executor/api/facts.ts";
import { started } from "../../support/task-api.ts";

describe("what a program may know of its task", () => {
  const { address: _address, ports: _ports, checkpoint: _checkpoint, restartReason: _reason, ...first } = started;

  test("has what it began with and where it may listen, where it has that", () => {
    const known = { restartReason: "a peer failed", checkpoint: "/ckpt/7", ports: { rpc: 5001 } };
    expect(taskFacts({ ...first, ...known, address: { host: "n1", port: 5000 } })).toMatchObject({
      ...{ ...known, host: "n1", port: 5000 },
    });
  });

  test.each([{}, { ports: {}, checkpoint: "", restartReason: "" }])("has nothing of that otherwise: %j", (nothing) => {
    expect(Object.keys(taskFacts({ ...first, ...nothing })).sort()).toEqual(
      ["task", "role", "index", "applicationId", "attempt", "generation", "restarts"].sort(),
    );
  });
});
