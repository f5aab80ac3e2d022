import { expect, test } from "@jest/globals";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { storedLogs } from "../../../client/logs/stored-logs.ts";
import { aReport } from "../application-report.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

const none = { memoryMiB: 0, vcores: 0, others: {} };
const usage = { usedContainers: -1, used: none, needed: none, memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };

test.each([
  ["KILLED", /^There are no logs of application_\S+: it ended before its AM had a container\n/],
  ["ACCEPTED", /^There are no logs of application_\S+: its AM has no container yet\n/],
] as const)("a job that never had a container is not waited for: %s", async (state, message) => {
  const context = recordedContext({});
  const place = aPlace({ logStore: () => ({ pending: "waiting for the NodeManagers", async *logs() {} }) });
  const request = { report: aReport({ state, usage }), selection: { kind: "lead" }, filter: {} } as const;
  await expect(storedLogs(place, request, new LogPrinter(context.output, false), context)).rejects.toMatchObject({
    code: "NO_LOGS",
    exitCode: 3,
    message: expect.stringMatching(message),
  });
  expect(context.err.text).toBe("");
});
