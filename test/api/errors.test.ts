import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { toApiError } from "../../src/api/errors.ts";

function failure(code: status, details: string): Error {
  return Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code });
}

describe("a failed call between the programs", () => {
  test("is told with the peer, without gRPC's name of the status", () => {
    const error = toApiError(failure(status.UNAVAILABLE, "No connection established"), "node7:4711");
    expect(error.message).toBe("node7:4711: No connection established");
    expect(error).toMatchObject({ code: "API_UNREACHABLE", retryable: true });
  });

  test("that the caller has no right to is told in the peer's words alone", () => {
    const error = toApiError(failure(status.PERMISSION_DENIED, "carol may not end this job"), "node7:4711");
    expect(error).toMatchObject({ code: "API_FORBIDDEN", message: "carol may not end this job", retryable: false });
  });

  test("is of the certificate where OpenSSL says so", () => {
    const error = toApiError(failure(status.UNAVAILABLE, "unable to verify the first certificate"), "node7:4711");
    expect(error.code).toBe("API_UNAUTHENTICATED");
  });
});
