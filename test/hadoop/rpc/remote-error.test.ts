import { describe, expect, test } from "@jest/globals";
import { isRemoteError, RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import { pumped } from "../../support/pumped.ts";

describe("remote exceptions", () => {
  test.each([
    ["org.apache.hadoop.ipc.StandbyException", "STANDBY", true],
    ["org.apache.hadoop.ipc.RetriableException", "NOT_READY", true],
    ["org.apache.hadoop.yarn.exceptions.NMNotYetReadyException", "NODE_NOT_READY", true],
    ["org.apache.hadoop.ipc.RpcNoSuchMethodException", "NOT_SUPPORTED_BY_SERVER", false],
    ["org.apache.hadoop.security.AccessControlException", "ACCESS_DENIED", false],
    ["org.apache.hadoop.security.token.SecretManager$InvalidToken", "INVALID_TOKEN", false],
    ["org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException", "APPLICATION_NOT_FOUND", false],
    ["org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException", "ATTEMPT_NOT_FOUND", false],
    ["org.apache.hadoop.yarn.exceptions.ContainerNotFoundException", "CONTAINER_NOT_FOUND", false],
    ["org.apache.hadoop.yarn.exceptions.ApplicationMasterNotRegisteredException", "NOT_REGISTERED", false],
    ["org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException", "INVALID_MASTER_REQUEST", false],
    ["org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException", "INVALID_RESOURCE_REQUEST", false],
    ["org.apache.hadoop.yarn.exceptions.InvalidLabelResourceRequestException", "INVALID_LABEL", false],
    ["org.apache.hadoop.ipc.ObserverRetryOnActiveException", "NOT_READY", true],
    ["org.apache.hadoop.ipc.RpcNoSuchProtocolException", "NOT_SUPPORTED_BY_SERVER", false],
    ["org.apache.hadoop.ipc.RPC$VersionMismatch", "VERSION_MISMATCH", false],
    ["org.apache.hadoop.security.authorize.AuthorizationException", "ACCESS_DENIED", false],
    ["org.apache.hadoop.yarn.exceptions.InvalidResourceBlacklistRequestException", "INVALID_BLACKLIST", false],
    ["org.apache.hadoop.yarn.exceptions.InvalidContainerReleaseException", "INVALID_RELEASE", false],
    ["org.apache.hadoop.yarn.exceptions.InvalidContainerException", "INVALID_CONTAINER", false],
    ["org.apache.hadoop.yarn.exceptions.ResourceNotFoundException", "RESOURCE_TYPE_UNKNOWN", false],
    ["com.example.NeverHeardOfException", "REMOTE_EXCEPTION", false],
  ])("%s means %s", (javaClass, code, retryable) => {
    expect(new RemoteError(javaClass, "why")).toMatchObject({ code, retryable, javaClass, javaMessage: "why" });
  });

  test("are the call's unless the server says that it refuses the caller", () => {
    const javaClass = "org.apache.hadoop.security.AccessControlException";
    expect(new RemoteError(javaClass, "why").unauthorized).toBe(false);
    expect(new RemoteError(javaClass, "why", { unauthorized: true }).unauthorized).toBe(true);
  });

  test("what YARN wraps means what is in it (org.apache.hadoop.yarn.ipc.RPCUtil#getRemoteException)", () => {
    const said = "org.apache.hadoop.security.AccessControlException: User bob cannot perform operation MODIFY_APP";
    const javaClass = "org.apache.hadoop.yarn.exceptions.YarnException";
    expect(new RemoteError(javaClass, said)).toMatchObject({ code: "ACCESS_DENIED", javaClass, javaMessage: said });
    expect(new RemoteError(javaClass, "java.io.IOException: disk full")).toMatchObject({ code: "REMOTE_EXCEPTION" });
    expect(new RemoteError(javaClass, "no class at all")).toMatchObject({ code: "REMOTE_EXCEPTION" });
    expect(new RemoteError("java.io.IOException", said)).toMatchObject({ code: "REMOTE_EXCEPTION" });
  });

  test("a message of several lines ends where the stack trace begins", () => {
    const text =
      "first line\nsecond line\n\tat org.example.A.b(A.java:1)\nCaused by: java.io.IOException: deep\n\t... 3 more";
    const error = new RemoteError("org.example.SomeException", text);
    expect(error.message).toBe("first line\nsecond line (SomeException)");
    expect(error.javaStack).toMatch(/^at org\.example.*Caused by: java\.io\.IOException: deep\n\t\.\.\. 3 more$/s);
  });

  test("texts of any shape are read in linear time", () => {
    const pieces = ["\n", " ", "\t", "a", "at ", "\n at ", "at a.B(", "Caused by: "];
    for (const text of pumped(pieces))
      expect(new RemoteError("org.example.SomeException", text).javaMessage).not.toBe("");
  });

  test("without a message the class speaks", () => {
    expect(new RemoteError("java.lang.NullPointerException", "").javaMessage).toBe("NullPointerException");
  });

  test("is told from other errors by its meaning", () => {
    const error = new RemoteError("org.apache.hadoop.ipc.StandbyException", "");
    expect(isRemoteError(error, "NOT_READY", "STANDBY")).toBe(true);
    expect(isRemoteError(error, "ACCESS_DENIED")).toBe(false);
    expect(isRemoteError({ code: "STANDBY" }, "STANDBY")).toBe(false);
  });
});
