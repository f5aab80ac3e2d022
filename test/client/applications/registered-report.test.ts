import { describe, expect, test } from "@jest/globals";
import { registeredReport } from "../../../client/applications/registered-report.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";
import { recordedContext } from "../support.ts";

const recovered = aReport({ diagnostics: "Attempt recovered after RM restart" });
const registered = aReport({ state: "RUNNING", amHost: "node-1", amRpcPort: 4711 });

describe("the report of an application after a failover of the ResourceManager", () => {
  async function ask(first: ApplicationReport, ...later: ApplicationReport[]) {
    const { clock, err, output, now } = recordedContext({});
    let asked = 0;
    const report = async () => {
      asked += 1;
      return later[asked - 1] ?? recovered;
    };
    const pause = async (delayMs: number) => {
      clock.nowMs += delayMs;
    };
    return { report: await registeredReport({ report }, first, { output, now }, pause), asked, told: err.text };
  }

  test("is waited for until the AM has registered, and it is told why", async () => {
    expect(await ask(recovered, recovered, registered)).toEqual({
      report: registered,
      asked: 2,
      told: "Waiting for up to 30 s: the ResourceManager has restarted or failed over, and the AM, which is still running, has not registered with it again yet\n",
    });
  });

  test("takes the place of what was said of the wait, on a terminal", async () => {
    const { err, out, output, now } = recordedContext({ terminal: true });
    await registeredReport({ report: async () => registered }, recovered, { output, now }, async () => undefined);
    const written = `${out.text}${err.text}`;
    expect(written).toContain("Waiting for up to 30 s");
    expect(written.endsWith("\u001b[J")).toBe(true);
  });

  test("is taken as it is when the AM does not register", async () => {
    expect(await ask(recovered)).toMatchObject({ report: recovered, asked: 150 });
  });

  test.each([
    ["whose AM has registered", registered],
    ["whose AM has never started", aReport()],
    ["that has ended", aReport({ state: "KILLED", diagnostics: recovered.diagnostics })],
  ])("is not asked for again of one %s", async (_case, report) => {
    expect(await ask(report)).toEqual({ report, asked: 0, told: "" });
  });
});
