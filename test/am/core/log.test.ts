import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";

const root = join(import.meta.dirname, "../../..");

describe("the log of the ApplicationMaster", () => {
  test("has exactly the events that docs/reference/am-log.md lists", () => {
    const source = readdirSync(join(root, "am"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(root, "am", name), "utf8"));
    const call = /(?:\blog(?:\.(?:info|warn|error)\(|\(\s*step,\s*[^,]+,)|#warnOnce\()\s*"([a-z-]+)"/g;
    const logged = source.flatMap((text) => [...text.matchAll(call)].map(([, event]) => event));
    const listed = [
      ...readFileSync(join(root, "docs/reference/am-log.md"), "utf8").matchAll(/^\| `([a-z-]+)` \|/gm),
    ].map(([, event]) => event);
    expect([...new Set(logged)].sort()).toEqual(listed.sort());
  });
});
