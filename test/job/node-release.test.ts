import { describe, expect, test } from "@jest/globals";
import { isSupportedNode, requireSupportedNode } from "../../src/job/node-release.ts";

describe("a Node that our programs are to run on", () => {
  test.each(["v20.19.0", "v20.20.2", "v22.0.0", "v100.1.0", process.version])("%s will do", (version) => {
    expect(isSupportedNode(version)).toBe(true);
    expect(() => requireSupportedNode(version)).not.toThrow();
  });

  test.each(["v18.20.8", "v20.18.3", "v8.0.0"])("%s is too old, and the key is named", (version) => {
    expect(isSupportedNode(version)).toBe(false);
    const message = `Node ${version} is too old for tony-ts: set tony.node.binary to 20.19 or newer`;
    expect(() => requireSupportedNode(version)).toThrow(expect.objectContaining({ code: "NODE_TOO_OLD", message }));
  });
});
