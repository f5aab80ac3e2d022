import { describe, expect, test } from "@jest/globals";
import { ExitCode, UserError } from "../src/errors.ts";
import { CodedError, errorCode, errorMessage } from "../src/hadoop/errors.ts";

describe("errors", () => {
  test("a user error ends the program as a usage error unless it says otherwise", () => {
    expect(new UserError("no such key", { code: "UNKNOWN_KEY" }).exitCode).toBe(ExitCode.usage);
    expect(new UserError("refused", { code: "REFUSED", exitCode: ExitCode.cluster }).exitCode).toBe(ExitCode.cluster);
  });

  test("the cause stays attached and retrying is off unless decided", () => {
    const cause = new Error("reset");
    const error = new CodedError("call failed", { code: "CALL_FAILED", cause });
    expect(error.cause).toBe(cause);
    expect(error.retryable).toBe(false);
  });

  test("code and message are read from anything thrown", () => {
    expect(errorCode(Object.assign(new Error("x"), { code: "ENOENT" }))).toBe("ENOENT");
    expect(errorCode("plain text")).toBeUndefined();
    expect(errorMessage("plain text")).toBe("plain text");
  });
});
