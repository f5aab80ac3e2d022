import { expect, test } from "@jest/globals";
import { SessionRecords } from "../../../am/clients/session-records.ts";
import type { CallerSession, SessionEnd } from "../../../src/api/caller-session.ts";
import type { SessionWanted } from "../../../src/api/session-messages.ts";
import type { Happening } from "../../../src/job/history-event.ts";
import { silentLog } from "../../support/silent-log.ts";

/** What is recorded of sessions with `worker:0` that end so. */
function recordsOf(
  sessions: readonly { readonly by?: string; readonly wanted: SessionWanted; readonly end?: SessionEnd }[],
) {
  const recorded: Happening[] = [];
  const said: string[] = [];
  const records = new SessionRecords({
    log: { ...silentLog, info: (event) => void said.push(event) },
    add: (event) => void recorded.push(event),
  });
  for (const [at, { by = "ada", wanted, end }] of sessions.entries()) {
    const session: Pick<CallerSession, "by" | "task" | "wanted" | "onceOver"> = {
      by,
      task: "worker:0",
      wanted,
      onceOver: (over) => {
        if (end !== undefined) over(end);
      },
    };
    records.opened(session, { sessionId: at + 1, containerId: "c1" });
  }
  return { recorded, said };
}

const connection = (port: number) => ({ wanted: { type: "connection", port } as const });

test.each([
  ["its success", { exit: { type: "exited", exitCode: 0, signal: "" } }, "exit 0"],
  ["its exit", { exit: { type: "exited", exitCode: 7, signal: "" } }, "exit 7"],
  ["its signal", { exit: { type: "exited", exitCode: 0, signal: "SIGKILL" } }, "SIGKILL"],
  ["why it was ended", { reason: "the job has ended" }, "the job has ended"],
  ["nothing more", {}, "closed"],
] as const)("a command is recorded with its end: %s", (_, end, how) => {
  const { recorded } = recordsOf([{ wanted: { type: "command", words: ["sleep", "1 s"] }, end }]);
  expect(recorded).toEqual([
    { type: "session-opened", session: 1, by: "ada", kind: "command", command: "sleep '1 s'" },
    { type: "session-ended", session: 1, how },
  ]);
});

test("one that runs in a terminal is recorded as that; who asks where programs stand is told of in the log alone", () => {
  const terminal = { size: { columns: 80, rows: 24 }, type: "xterm" };
  const { recorded, said } = recordsOf([
    { wanted: { type: "command", words: ["sh"], terminal } },
    { wanted: { type: "stacks" } },
  ]);
  expect(recorded).toMatchObject([{ kind: "terminal", command: "sh" }]);
  expect(said).toEqual(["session-opened", "stacks-asked"]);
});

test("of connections the first is recorded of each caller and port, of a thousand at most", () => {
  const same = [connection(1), connection(1), { ...connection(1), by: "bob" }, connection(2)];
  expect(recordsOf(same).recorded).toMatchObject([
    { session: 1, by: "ada", kind: "connection", port: 1 },
    { session: 3, by: "bob", port: 1 },
    { session: 4, by: "ada", port: 2 },
  ]);
  const many = Array.from({ length: 1_100 }, (_, port) => connection(port));
  expect(recordsOf(many).recorded).toHaveLength(1_000);
});
