import { createServer } from "node:http";
import { expect, test } from "@jest/globals";
import { Outlets } from "../../../am/notices/outlets.ts";
import type { Log } from "../../../src/log.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../../client/job-status.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";
import { silentLog } from "../../support/silent-log.ts";

/** Where nobody listens. */
async function nobody(): Promise<string> {
  const server = createServer();
  await listenLocally(server);
  const address = localAddress(server);
  await new Promise((resolve) => server.close(resolve));
  return address;
}

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
