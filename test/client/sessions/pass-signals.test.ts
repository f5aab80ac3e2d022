import { EventEmitter } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { passSignals } from "../../../client/sessions/pass-signals.ts";

/** What these signals do to a session, one after the other, and with which exit code they end it. */
function after(...kinds: readonly string[]) {
  const did: string[] = [];
  const source = new EventEmitter();
  const session = {
    send: async (message: { readonly type: string; readonly signal?: string }) => {
      did.push(`${message.type} ${message.signal}`);
    },
    cancel: () => did.push("cancel"),
  };
  const signals = passSignals(session, source);
  for (const kind of kinds) source.emit(kind, kind);
  const left = source.eventNames();
  signals.stop();
  expect(source.eventNames()).toEqual([]);
  return { did, exitCode: signals.endedWith(), left };
}

describe("signals of the client during a session", () => {
  test.each(["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR1", "SIGUSR2"])("go to its command: %s", (kind) => {
    expect(after(kind)).toMatchObject({ did: [`signal ${kind}`], exitCode: undefined });
  });

  test.each([
    { kinds: ["SIGINT", "SIGINT"], exitCode: 130 },
    { kinds: ["SIGINT", "SIGTERM"], exitCode: 143 },
    { kinds: ["SIGTERM", "SIGTERM"], exitCode: 143 },
    { kinds: ["SIGTERM", "SIGINT"], exitCode: 130 },
  ])("end the session when a second one is to end its command: $kinds", ({ kinds, exitCode }) => {
    expect(after(...kinds)).toMatchObject({ did: [`signal ${kinds[0]}`, "cancel"], exitCode });
  });

  test("that end no command end no session, however many they are", () => {
    const kinds = ["SIGQUIT", "SIGQUIT", "SIGINT", "SIGQUIT", "SIGUSR2"];
    expect(after(...kinds)).toMatchObject({ did: kinds.map((kind) => `signal ${kind}`), exitCode: undefined });
  });

  test("end the session at once where the terminal is gone", () => {
    expect(after("SIGHUP")).toMatchObject({ did: ["cancel"], exitCode: 129 });
  });
});
