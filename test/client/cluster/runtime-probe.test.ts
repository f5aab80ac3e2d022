import { expect, test } from "@jest/globals";
import { probeFinding } from "../../../client/cluster/runtime-probe.ts";

const diagnostics = (exitCode: number, stderr: string) =>
  `AM Container for appattempt_1_0001_000001 exited with  exitCode: ${exitCode}\nLast 4096 bytes of stderr :\n${stderr}\n\n\nFor more`;

test("a runtime that starts on a node is told with its release", () => {
  const finding = probeFinding("nodes", diagnostics(37, "v22.23.3"));
  expect(finding).toMatchObject({ state: "well", found: "the runtime starts in a container: Node v22.23.3" });
});

test("an application that YARN refused says nothing of the runtime", () => {
  const refusal =
    "Reject application application_1_0002 submitted by user ada application rejected by placement rules.";
  expect(probeFinding("nodes", refusal)).toEqual({
    subject: "nodes",
    state: "wrong",
    found: `YARN refused the probe: ${refusal}`,
    remedy: "jobs would be refused likewise: choose another queue (--queue)",
  });
});

test("one that starts but is too old is wrong, and so is one that does not start", () => {
  expect(probeFinding("nodes", diagnostics(37, "v18.20.8"))).toMatchObject({
    state: "wrong",
    found: "Node v18.20.8 is too old for tony-ts",
    remedy: "set tony.node.binary to 20.19 or newer",
  });
  expect(probeFinding("nodes", diagnostics(126, "cannot execute"))).toMatchObject({
    state: "wrong",
    found: "the runtime does not start in a container: cannot execute",
    remedy: expect.stringContaining("tony.node.binary"),
  });
});
