import { createServer } from "node:http";
import { expect, test } from "@jest/globals";
import { Outlets } from "../../../am/notices/outlets.ts";
import type { Log } from "../../../src/log.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../../client/job-status.ts";
import { searchOf } from "../../job/search/support.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";
import { silentLog } from "../../support/silent-log.ts";

const search = searchOf({ x: "float 0 1" });

/** Where nobody listens. */
async function nobody(): Promise<string> {
  const server = createServer();
  await listenLocally(server);
  const address = localAddress(server);
  await new Promise((resolve) => server.close(resolve));
  return address;
}

test("the status is made once in five seconds, and not at all where nobody is told", async () => {
  const spec = aJobSpec();
  const url = `http://${await nobody()}/`;
  let nowMs = noonishMs;
  const clock = { nowMs: () => nowMs };
  const made = (am: object, ...times: readonly number[]) => {
    const job = { spec: { ...spec, am: { ...spec.am, ...am } }, user: "ada" };
    const outlets = new Outlets({ job, secrets: new Map(), rateOf: () => undefined, clock, log: silentLog });
    return times.filter((afterMs) => {
      nowMs = noonishMs + afterMs;
      let isMade = false;
      outlets.look(() => {
        isMade = true;
        return aJobStatus();
      });
      return isMade;
    });
  };
  expect(made({ notifyUrl: url }, 0, 4_999, 5_000, 9_999, 10_000)).toEqual([0, 5_000, 10_000]);
  expect(made({}, 0, 5_000)).toEqual([]);
});

test("of each system that is not there the log has its name, its key and its address, and no more of its URL", async () => {
  const address = await nobody();
  const refused = `cannot be reached: connect ECONNREFUSED ${address}`;
  const url = `http://${address}/s3cret`;
  const logged: [string, string][] = [];
  const log: Log = { ...silentLog, warn: (event, message) => void logged.push([event, message]) };
  const spec = aJobSpec();
  const am = { ...spec.am, notifyUrl: url, mlflowUrl: url, otlpUrl: url };
  const job = { spec: { ...spec, am }, user: "ada" };
  const clock = { nowMs: () => noonishMs };
  const outlets = new Outlets({ job, secrets: new Map(), rateOf: () => undefined, clock, log });
  await outlets.end(aJobStatus({ outcome: { ...allSucceeded, endedAtMs: noonishMs } }), 500);
  expect(logged.sort()).toEqual([
    ["notice-lost", `The notice ended was not taken by the job's end: ${address} ${refused}`],
    ["outlet-lost", `MLflow (tony.mlflow.url) is not told of the job: ${address} ${refused}`],
    ["outlet-lost", `The collector (tony.otlp.url) is not told of the job: ${address} ${refused}`],
  ]);
});

test.each([
  { what: "a job whose programs share its run", am: { mlflowShared: true }, search: undefined, isTold: true },
  { what: "a job whose programs do not", am: {}, search: undefined, isTold: false },
  { what: "a search, whose trials have runs of their own", am: { mlflowShared: true }, search, isTold: false },
])("before the programs of $what start MLflow is told: $isTold", async ({ am: changes, search: own, isTold }) => {
  const am = { ...aJobSpec().am, mlflowUrl: `http://${await nobody()}/`, ...changes };
  const job = { spec: aJobSpec({ am, ...(own && { search: own }) }), user: "ada" };
  const clock = { nowMs: () => noonishMs };
  const outlets = new Outlets({ job, secrets: new Map(), rateOf: () => undefined, clock, log: silentLog });
  let times = 0;
  const statusOf = () => {
    times += 1;
    return aJobStatus();
  };
  expect(await outlets.variables(statusOf)).toEqual({});
  expect(times > 0).toBe(isTold);
});
