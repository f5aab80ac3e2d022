import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { runSeed } from "../../simulation/run.ts";

const root = join(import.meta.dirname, "../../..");

describe("the log of the ApplicationMaster", () => {
  test("docs/reference/am-log.md lists every event and no other", () => {
    const source = readdirSync(join(root, "am"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(root, "am", name), "utf8"));
    const call = /\blog(?:\.(?:info|warn|error)\(|\(\s*step,\s*[^,]+,)\s*"([a-z-]+)"/g;
    const logged = source.flatMap((text) => [...text.matchAll(call)].map(([, event]) => event));
    const listed = [
      ...readFileSync(join(root, "docs/reference/am-log.md"), "utf8").matchAll(/^\| `([a-z-]+)` \|/gm),
    ].map(([, event]) => event);
    expect([...new Set(logged)].sort()).toEqual(listed.sort());
  });

  test("no task takes more than 20 lines in one generation", async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const lines = new Map<string, number>();
      await runSeed(seed, {
        mutation: (effects) => {
          for (const effect of effects) {
            if (effect.type === "log" && effect.fields?.task !== undefined) {
              const subject = `${effect.fields.task} ${effect.fields.generation}`;
              lines.set(subject, (lines.get(subject) ?? 0) + 1);
            }
          }
          return effects;
        },
      });
      expect(Math.max(...lines.values())).toBeLessThanOrEqual(20);
    }
  });
});
