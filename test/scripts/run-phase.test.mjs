import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { jestInBand } from "../../scripts/test/phase.mjs";
import { runPhase } from "../../scripts/test/run-phase.mjs";

/** @type {string} */
let folder;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "run-phase-"));
});
afterAll(() => rm(folder, { recursive: true }));

const PHASE = { what: "proves", cores: 1, limitSeconds: 60, needs: [] };

/** A phase of these files of tests, each a body for one test. @param {string} name @param {Readonly<Record<string, string>>} bodies */
async function phaseOf(name, bodies) {
  for (const [file, body] of Object.entries(bodies)) {
    const text = `const fs = require("node:fs");\ntest("${file}", () => { ${body} }, 60_000);\n`;
    await writeFile(join(folder, `${name}-${file}.test.js`), text);
  }
  const config = JSON.stringify({ rootDir: folder, testEnvironment: "node", transform: {} });
  const command = jestInBand("--config", config, "--testPathPatterns", `/${name}-`);
  return { ...PHASE, name, command, jest: true };
}

const FAILS = "expect(1).toBe(2);";
const PASSES = "expect(1).toBe(1);";

test("a phase in the background has the lowest priority, also where each session has one of its own", async () => {
  const priorities =
    'const { readFileSync } = require("node:fs"); let group = "none"; try { group = readFileSync("/proc/self/autogroup", "utf8"); } catch {} console.log(require("node:os").getPriority(), group);';
  const command = ["node", "-e", `setTimeout(() => { ${priorities} }, 300)`];
  const { output } = await runPhase({ ...PHASE, name: "background", command, background: true });
  expect(output).toMatch(/^19 (none|.*nice 19)\n/);
});

describe("a phase of Jest", () => {
  test("runs a file that failed once more; what passes then is unsteady", async () => {
    const once = `const marker = ${JSON.stringify(join(folder, "marker"))};
      const isFirst = !fs.existsSync(marker); fs.writeFileSync(marker, ""); expect(isFirst).toBe(false);`;
    const result = await runPhase(await phaseOf("unsteady", { once, steady: PASSES }));
    expect(result).toMatchObject({ passed: 2, failed: 0 });
    expect(result.unsteady).toEqual([expect.stringMatching(/unsteady-once\.test\.js › once\n/)]);
  });

  test("fails where a file fails twice", async () => {
    const result = await runPhase(await phaseOf("failing", { fails: FAILS, steady: PASSES }));
    expect(result).toMatchObject({ passed: 1, failed: 1, failures: [expect.stringContaining("fails")] });
    expect(result.unsteady).toBeUndefined();
  });

  test("that does not exit after its tests is ended; what failed in it runs once more", async () => {
    const once = `const marker = ${JSON.stringify(join(folder, "open"))};
      if (fs.existsSync(marker)) return; fs.writeFileSync(marker, ""); require("node:net").createServer().listen(0); ${FAILS}`;
    const result = await runPhase({ ...(await phaseOf("open", { once, steady: PASSES })), exitSeconds: 2 });
    expect(result).toMatchObject({ passed: 2, failed: 0 });
    expect(result.output).toContain("ended: it had not exited 2 s after its tests");
  });

  test("that does not exit after tests that all passed fails", async () => {
    const left = `require("node:net").createServer().listen(0);`;
    const phase = await phaseOf("left", { left });
    expect(await runPhase({ ...phase, exitSeconds: 2 })).toMatchObject({ passed: 1, failed: 1 });
  });

  test("that stands still is ended, told with where its threads stood, and goes on with what was left", async () => {
    const once = `const marker = ${JSON.stringify(join(folder, "still"))};
      if (fs.existsSync(marker)) return; fs.writeFileSync(marker, ""); return new Promise(() => setInterval(() => undefined, 1000));`;
    const phase = await phaseOf("still", { "a-steady": PASSES, once: `${PASSES} ${once}`, "z-steady": PASSES });
    const result = await runPhase({ ...phase, silentSeconds: 6 });
    expect(result).toMatchObject({ passed: 3, failed: 0 });
    expect(result.unsteady).toEqual([
      expect.stringMatching(/no test began or ended for 6 s, .*\n {2}was running: .*once/s),
    ]);
    expect(result.output).toMatch(/STAT.*epoll/s);
  });

  test("that is broken in many files does not run again", async () => {
    const result = await runPhase(await phaseOf("broken", { one: FAILS, two: FAILS, three: FAILS }));
    expect(result).toMatchObject({ passed: 0, failed: 3 });
    expect(result.output).not.toContain("once more");
  });
});
