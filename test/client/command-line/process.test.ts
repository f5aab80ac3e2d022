import { EventEmitter } from "node:events";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { reportError } from "../../../client/command-line/handle-errors.ts";
import { watchForDefects } from "../../../client/command-line/process.ts";
import { ExitCode } from "../../../src/errors.ts";

describe("a process that would end by a defect", () => {
  let process: EventEmitter;
  let told: unknown[];
  beforeEach(() => {
    process = new EventEmitter();
    told = [];
    watchForDefects((error) => told.push(error), process);
  });

  test("hands on what nothing has caught, the first time", () => {
    const error = new TypeError("planted");
    process.emit("uncaughtException", error);
    process.emit("uncaughtException", new TypeError("in telling it"));
    expect(told).toEqual([error]);
  });

  test("says so when it has nothing left to do, and that what became of the job is unknown", () => {
    process.emit("beforeExit", 0);
    expect(told.map((error) => reportError(error))).toEqual([
      {
        code: "INTERNAL",
        exitCode: ExitCode.unknown,
        retryable: false,
        message: expect.stringContaining("The command waits for something that can no longer come"),
      },
    ]);
  });
});
