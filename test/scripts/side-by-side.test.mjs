import { readdirSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { phases } from "../../scripts/test/phases.mjs";
import { PYTHON_ENVIRONMENTS } from "../../scripts/test/preparations.mjs";
import { runSideBySide } from "../../scripts/test/side-by-side.mjs";

/** @import { Prerequisite } from "../../scripts/prerequisites.mjs" */
/** @import { Phase } from "../../scripts/test/phase.mjs" */
/** @import { PhaseResult } from "../../scripts/test/run-phase.mjs" */

const ROOMS_ON_CLUSTERS = [
  "documents",
  "integration",
  "e2e",
  "schedulers",
  "storage",
  "faults",
  "ha",
  "secure",
  "matrix",
];

/**
 * @param {string} name @param {Partial<Phase>} [more]
 * @returns {Phase}
 */
const phase = (name, more = {}) => ({
  name,
  what: name,
  command: [name],
  cores: 1,
  limitSeconds: 1,
  needs: [],
  ...more,
});
const passed = { passed: 1, failed: 0, seconds: 1, output: "" };
const failed = { passed: 0, failed: 1, seconds: 1, output: "no" };

/** Phases that run until the test ends them. */
class Machine {
  #cores;
  /** @type {Map<string, (result: PhaseResult) => void>} */
  #ends = new Map();
  /** Why nothing may begin any more. @type {string | undefined} */
  stopped;
  /** What phases may need of it, and it does not have. @type {Prerequisite[]} */
  lacks = ["kerberos"];
  /** By name, what came of those that have ended. @type {Record<string, PhaseResult>} */
  results = {};

  /** @param {number} cores */
  constructor(cores) {
    this.#cores = cores;
  }

  get running() {
    return [...this.#ends.keys()];
  }

  /** @param {Phase[]} list */
  start(list) {
    this.over = runSideBySide(list, {
      cores: this.#cores,
      run: ({ name }) => new Promise((resolve) => this.#ends.set(name, resolve)),
      refusal: ({ machine = [] }) => this.stopped ?? machine.find((name) => this.lacks.includes(name)),
      ended: ({ name }, result) => {
        this.results[name] = result;
      },
    });
  }

  /** @param {string} name */
  async end(name, result = passed) {
    this.#ends.get(name)?.(result);
    this.#ends.delete(name);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("phases side by side", () => {
  const started = (/** @type {number} */ cores, /** @type {Phase[]} */ list) => {
    const machine = new Machine(cores);
    machine.start(list);
    return machine;
  };

  test("begin in the order of the list, as far as the cores go", async () => {
    const machine = started(2, [phase("a"), phase("b"), phase("c"), phase("waits for the network", { cores: 0 })]);
    expect(machine.running).toEqual(["a", "b", "waits for the network"]);
    await machine.end("b");
    expect(machine.running).toEqual(["a", "waits for the network", "c"]);
  });

  test("wait for what they need, while others go before them", async () => {
    const machine = started(2, [phase("a"), phase("b", { needs: ["a"] }), phase("c")]);
    expect(machine.running).toEqual(["a", "c"]);
    await machine.end("a");
    expect(machine.running).toEqual(["c", "b"]);
  });

  test("go after what shares something with them, whatever came of that", async () => {
    const machine = started(2, [phase("a"), phase("b", { after: ["a"] })]);
    expect(machine.running).toEqual(["a"]);
    await machine.end("a", failed);
    expect(machine.running).toEqual(["b"]);
  });

  test("one that load would disturb runs when nothing else does", async () => {
    const machine = started(2, [
      phase("alone", { cores: Number.POSITIVE_INFINITY, needs: ["a"] }),
      phase("a"),
      phase("b"),
    ]);
    await machine.end("a");
    expect(machine.running).toEqual(["b"]);
    await machine.end("b");
    expect(machine.running).toEqual(["alone"]);
  });

  test("one in the background takes nobody's cores, also beside what load would disturb; one at a time", async () => {
    const alone = phase("alone", { cores: Number.POSITIVE_INFINITY });
    const background = ["x", "y", "z"].map((name) => phase(name, { background: true }));
    const machine = started(1, [phase("a"), ...background, alone]);
    expect(machine.running).toEqual(["a", "x"]);
    await machine.end("x");
    expect(machine.running).toEqual(["a", "y"]);
    await machine.end("a");
    expect(machine.running).toEqual(["y", "alone"]);
    await machine.end("y");
    expect(machine.running).toEqual(["alone", "z"]);
  });

  test("one that wants more cores than there are runs all the same", () => {
    expect(started(1, [phase("large", { cores: 2 })]).running).toEqual(["large"]);
  });

  test("a failure fails what needs it, by name, and nothing else", async () => {
    const machine = started(1, [phase("a"), phase("b", { needs: ["a"] }), phase("c", { needs: ["b"] }), phase("d")]);
    await machine.end("a", failed);
    expect(machine.results).toEqual({
      a: failed,
      b: { passed: 0, failed: 1, seconds: 0, output: "not run: a failed", notRun: "a failed" },
      c: { passed: 0, failed: 1, seconds: 0, output: "not run: a failed", notRun: "a failed" },
    });
    await machine.end("d");
    await machine.over;
    expect(machine.results.d).toBe(passed);
  });

  test("what could not be prepared fails all that needs it with its own last words", async () => {
    const machine = started(1, [
      phase("jars", { prepares: true }),
      phase("up", { needs: ["jars"], prepares: true }),
      phase("jobs", { needs: ["up"] }),
    ]);
    await machine.end("jars", { ...failed, output: "Downloading …\nno route to host\n" });
    expect(machine.results.jobs).toMatchObject({ failed: 1, output: "not run: jars failed: no route to host" });
  });

  test("what the machine lacks stops what needs it, and nothing else", async () => {
    const machine = started(1, [
      phase("secure-up", { machine: ["kerberos"], prepares: true }),
      phase("secure", { needs: ["secure-up"] }),
      phase("up", { machine: ["java"] }),
    ]);
    expect(machine.results.secure).toMatchObject({ failed: 1, output: "not run: kerberos" });
    expect(machine.running).toEqual(["up"]);
  });

  test("a cluster goes when nobody needs it any more, whatever came of it", async () => {
    const machine = started(4, [
      phase("up"),
      phase("down", { endsWhatBegan: "up" }),
      phase("a", { needs: ["up"] }),
      phase("b", { needs: ["up"] }),
    ]);
    await machine.end("up");
    await machine.end("a", failed);
    expect(machine.running).toEqual(["b"]);
    await machine.end("b");
    expect(machine.running).toEqual(["down"]);
    await machine.end("down");
    await machine.over;
  });

  test("what never began is not ended", async () => {
    const machine = started(1, [phase("a"), phase("up", { needs: ["a"] }), phase("down", { endsWhatBegan: "up" })]);
    await machine.end("a", failed);
    await machine.over;
    expect(Object.keys(machine.results)).toEqual(["a", "up"]);
  });

  test("after an interruption nothing begins but what ends something", async () => {
    const machine = started(1, [phase("up"), phase("a", { needs: ["up"] }), phase("down", { endsWhatBegan: "up" })]);
    machine.stopped = "interrupted";
    await machine.end("up");
    expect(machine.results.a).toMatchObject({ failed: 1, output: "not run: interrupted" });
    expect(machine.running).toEqual(["down"]);
  });
});

describe("the phases", () => {
  test("have names of their own, and need only what stands before them", () => {
    const before = new Set();
    for (const { name, needs, after = [], endsWhatBegan } of phases) {
      expect(before).not.toContain(name);
      expect([...before]).toEqual(
        expect.arrayContaining([...needs, ...after, ...(endsWhatBegan === undefined ? [] : [endsWhatBegan])]),
      );
      before.add(name);
    }
  });

  test("each prove something or prepare what another needs", () => {
    const needed = new Set(phases.flatMap(({ needs }) => needs));
    const idle = phases.filter(({ name, prepares, endsWhatBegan }) => prepares && !endsWhatBegan && !needed.has(name));
    expect(idle).toEqual([]);
  });

  test("have a suite for each Python environment that needs no other", () => {
    for (const name of PYTHON_ENVIRONMENTS) {
      const suites = phases.filter(({ needs }) => needs.includes(name));
      expect(suites.length).toBeGreaterThan(0);
      for (const { needs } of suites)
        expect(needs.filter((need) => PYTHON_ENVIRONMENTS.includes(need))).toEqual([name]);
    }
  });

  test("run every file of the tests on clusters once or more", () => {
    const run = phases.flatMap(({ command }) => {
      const at = command.indexOf("--testPathPatterns");
      return command.includes("cluster") && at >= 0 ? command.slice(at + 1).map((pattern) => new RegExp(pattern)) : [];
    });
    const files = ROOMS_ON_CLUSTERS.flatMap((room) =>
      readdirSync(`test/${room}`, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".test.ts"))
        .map((file) => `test/${room}/${file}`),
    );
    expect(files.filter((file) => !run.some((pattern) => pattern.test(file)))).toEqual([
      "test/matrix/resources.test.ts",
    ]);
  });

  test("end every cluster that they start", () => {
    const starts = phases.filter(({ command }) => command.includes("up")).map(({ name }) => name);
    expect(phases.flatMap(({ endsWhatBegan }) => endsWhatBegan ?? [])).toEqual(starts);
  });
});
