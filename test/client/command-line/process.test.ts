import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { reportError } from "../../../client/command-line/handle-errors.ts";
import { leaveWithReader, watchForDefects } from "../../../client/command-line/process.ts";
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

describe("a process whose reader goes", () => {
  const { exitCode: ours } = process;
  let exits: unknown[];
  beforeEach(() => {
    exits = [];
    jest.spyOn(process, "exit").mockImplementation(((code?: number) => {
      exits.push(code ?? process.exitCode ?? ExitCode.succeeded);
    }) as typeof process.exit);
  });
  afterEach(() => {
    process.exitCode = ours;
    jest.restoreAllMocks();
  });

  function nobodyReads(): EventEmitter {
    const stream = new EventEmitter();
    leaveWithReader(stream);
    stream.emit("error", new Error("EPIPE"));
    return stream;
  }

  test("a command leaves with its reader: nothing is wrong about `tony-ts list | head`", () => {
    nobodyReads();
    expect(exits).toEqual([ExitCode.succeeded]);
  });

  test("that a job failed is told by the exit code also when nobody reads the report to its end", () => {
    process.exitCode = ExitCode.jobFailed;
    nobodyReads();
    expect(exits).toEqual([ExitCode.jobFailed]);
  });

  test("a command that watches for SIGHUP leaves in order", () => {
    const hungUp = jest.fn();
    process.once("SIGHUP", hungUp);
    const stream = nobodyReads();
    // It writes on meanwhile.
    stream.emit("error", new Error("EPIPE"));
    expect(hungUp).toHaveBeenCalledTimes(1);
    expect(exits).toEqual([]);
  });
});
