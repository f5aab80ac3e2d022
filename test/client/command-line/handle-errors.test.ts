import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { reportError } from "../../../client/command-line/handle-errors.ts";
import { toApiError } from "../../../src/api/errors.ts";
import { ExitCode, UserError } from "../../../src/errors.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import { RpcConnectionError } from "../../../src/hadoop/rpc/errors.ts";

describe("what people see of an error", () => {
  test("a user's mistake is its message alone, with its exit code", () => {
    const error = new UserError("job.xml:3: no such key", { code: "JOB_INVALID" });
    const told = { message: "job.xml:3: no such key", code: "JOB_INVALID", exitCode: 2, retryable: false };
    expect(reportError(error)).toEqual(told);
    const refused = new UserError("no queue", { code: "X", exitCode: ExitCode.cluster });
    expect(reportError(refused).exitCode).toBe(3);
  });

  test("a failure of Hadoop or the way to it says its causes once and exits with 3", () => {
    const cause = new Error("connect ECONNREFUSED 127.0.0.1:8032");
    const error = new RpcConnectionError("127.0.0.1:8032 cannot be reached", { code: "RPC_CONNECT_FAILED", cause });
    expect(reportError(error)).toEqual({
      message: "127.0.0.1:8032 cannot be reached: connect ECONNREFUSED 127.0.0.1:8032",
      code: "RPC_CONNECT_FAILED",
      exitCode: 3,
      retryable: true,
    });
  });

  test("what another program of ours refuses is its words alone, once", () => {
    const words = "worker:4 has no executor at present";
    const refused = Object.assign(new Error(`5 NOT_FOUND: ${words}`), { code: status.NOT_FOUND });
    expect(reportError(toApiError(refused, "127.0.0.1:1")).message).toBe(words);
    const away = Object.assign(new Error("14 UNAVAILABLE: no connection"), { code: status.UNAVAILABLE });
    expect(reportError(toApiError(away, "127.0.0.1:1")).message).toBe("127.0.0.1:1: no connection");
  });

  test("a mistyped id or a job's file that is no XML is the user's; a cluster's configuration that lacks something is the cluster's", () => {
    for (const code of [
      "INVALID_ID",
      "CONFIGURATION_UNREADABLE",
      "CONFIGURATION_MALFORMED",
      "FILE_SYSTEM_UNSUPPORTED",
    ]) {
      expect(reportError(new HadoopError("bad", { code })).exitCode).toBe(2);
    }
    for (const code of ["CONFIGURATION", "CONFIGURATION_MISSING", "CONFIGURATION_INVALID"]) {
      expect(reportError(new HadoopError("bad", { code })).exitCode).toBe(3);
    }
  });

  test("a file that is not there is named in words", () => {
    const error = Object.assign(new Error("open 'x.xml'"), { code: "ENOENT" });
    const told = { message: "No such file: open 'x.xml'", code: "ENOENT", exitCode: 2, retryable: false };
    expect(reportError(error)).toEqual(told);
  });

  test.each([
    ["EACCES", "Permission denied", 2],
    ["EISDIR", "A directory where a file is needed", 2],
    ["ENOTDIR", "A file where a directory is needed", 2],
    ["ENOSPC", "The disk is full", 2],
    ["EDQUOT", "The disk quota is used up", 2],
    ["EROFS", "The file system is read-only", 2],
    ["ECONNRESET", "The connection broke", 3],
    ["ENOTFOUND", "The host name is unknown", 3],
    ["EHOSTUNREACH", "The host cannot be reached", 3],
    ["ETIMEDOUT", "No answer in time", 3],
  ])("%s is told as: %s, of the file that it is about", (code, meaning, exitCode) => {
    const error = Object.assign(new Error(`${code}: in its own words, open '/a/b'`), { code, path: "/a/b" });
    expect(reportError(error)).toEqual({ message: `${meaning}: /a/b`, code, exitCode, retryable: exitCode === 3 });
  });

  test("of many causes the first five are told", () => {
    const cause = ["f", "e", "d", "c", "b"].reduce<Error | undefined>(
      (inner, word) => new Error(word, { cause: inner }),
      undefined,
    );
    expect(reportError(new HadoopError("a", { code: "X", cause })).message).toBe("a: b: c: d: e");
  });

  test("says whether the same may succeed later: where the error was made it is known, and the network's troubles pass", () => {
    for (const retryable of [true, false]) {
      expect(reportError(new HadoopError("busy", { code: "X", retryable }))).toMatchObject({ retryable });
      expect(reportError(new UserError("busy", { code: "X", retryable }))).toMatchObject({ retryable });
    }
    const refused = Object.assign(new Error("connect 127.0.0.1:1"), { code: "ECONNREFUSED" });
    expect(reportError(refused)).toMatchObject({ exitCode: 3, retryable: true });
  });

  test("anything else is a defect of ours, with its stack", () => {
    const { message, exitCode, code } = reportError(new TypeError("x is not a function"));
    expect(message).toMatch(/defect of tony-ts[\s\S]*TypeError: x is not a function\n {4}at /);
    expect({ exitCode, code }).toEqual({ exitCode: 5, code: "INTERNAL" });
  });

  test("what is no error at all is shown too", () => {
    expect(reportError("gone").message).toMatch(/\ngone$/);
  });

  test("with debug even a user's mistake shows its stack and its causes", () => {
    const error = new UserError("no", { code: "X", cause: new Error("because") });
    expect(reportError(error, true).message).toMatch(/^no\nUserError: no\n[\s\S]*Caused by: Error: because/);
  });
});
