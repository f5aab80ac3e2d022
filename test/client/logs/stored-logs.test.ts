import { Readable } from "node:stream";
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

test("each task of a container has its own output, and a task that of all its containers", async () => {
  const line = (task: string, container: string) => JSON.stringify({ level: "info", task, container });
  const files: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    container_1_0001_01_000001: {
      "am.log": [line("prep:0", "c2"), line("trainer:0", "c3"), line("trainer:0", "c2"), line("prep:0", "c2")].join(
        "\n",
      ),
    },
    c2: { stdout: "prepared\n", "trainer-0.stdout": "trained on\n" },
    c3: { stdout: "trained\n" },
  };
  const place = aPlace({
    logStore: () => ({
      pending: undefined,
      async *logs(wanted) {
        for (const [containerId, logs] of Object.entries(files).filter(([id]) => wanted(id))) {
          for (const [name, text] of Object.entries(logs)) {
            yield { containerId, name, content: Readable.from([Buffer.from(text)]) };
          }
        }
      },
    }),
  });
  const printed = async (name: string) => {
    const context = recordedContext({});
    const request = { report: aReport(), selection: { kind: "named", names: [name] }, filter: {} } as const;
    await storedLogs(place, request, new LogPrinter(context.output, false), context);
    return context.out.text;
  };
  expect(await printed("prep:0")).toBe("prepared\n");
  expect(await printed("trainer:0")).toBe("trained\ntrained on\n");
});

test("a node that uploads later than the ApplicationMaster's is waited for, of a job that has just ended", async () => {
  const master = JSON.stringify({ event: "task-started", task: "worker:0", container: "c2" });
  let looks = 0;
  const place = aPlace({
    logStore: () => ({
      pending: "waiting for the NodeManagers",
      async *logs(wanted) {
        looks += 1;
        const there = {
          container_1_0001_01_000001: ["am.log", master],
          ...(looks > 2 && { c2: ["stdout", "late\n"] }),
        };
        for (const [containerId, [name = "", text = ""]] of Object.entries(there).filter(([id]) => wanted(id)))
          yield { containerId, name, content: Readable.from([Buffer.from(text)]) };
      },
    }),
  });
  const context = recordedContext({});
  const report = aReport({ state: "FINISHED", finishTimeMs: context.now() });
  const request = { report, selection: { kind: "lead" }, filter: {} } as const;
  await storedLogs(place, request, new LogPrinter(context.output, false), context);
  expect(context.out.text).toBe("late\n");
  expect(context.err.text).toMatch(/^waiting for the NodeManagers, /);
});
