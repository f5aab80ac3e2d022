import { describe, expect, test } from "@jest/globals";
import { errorOfRemoteException, remoteExceptionIn } from "../../../src/hadoop/hdfs/remote-exception.ts";
import { pumped } from "../../support/pumped.ts";

const refusal = (exception: string, message: string) =>
  errorOfRemoteException({ exception, javaClassName: `org.example.${exception}`, message }, "OPEN", "/f");

describe("a refusal of WebHDFS", () => {
  test("says who can mend a missing permission", () => {
    const message = 'Permission denied: user=ada, access=READ_EXECUTE, inode="/user/bob":bob:staff:drwx------';
    expect(refusal("AccessControlException", message)).toMatchObject({
      code: "ACCESS_DENIED",
      message: expect.stringContaining("bob, who owns /user/bob, or an administrator can give ada read_execute access"),
    });
  });

  test("is found in a document that names its exception, and in no other", () => {
    const [exception, javaClassName, message] = ["IOException", "java.io.IOException", "why"];
    expect(remoteExceptionIn({ RemoteException: { exception, javaClassName, message } })).toEqual({
      exception,
      javaClassName,
      message,
    });
    expect(remoteExceptionIn({ RemoteException: { exception, message: 7 } })).toEqual({
      exception,
      javaClassName: exception,
      message: "",
    });
    for (const other of [null, "text", [], {}, { RemoteException: "IOException" }, { RemoteException: { message } }])
      expect(remoteExceptionIn(other)).toBeUndefined();
  });

  test.each([
    ["FileNotFoundException", "FILE_NOT_FOUND", false],
    ["FileAlreadyExistsException", "FILE_EXISTS", false],
    ["ParentNotDirectoryException", "NOT_A_DIRECTORY", false],
    ["PathIsNotDirectoryException", "NOT_A_DIRECTORY", false],
    ["PathIsNotEmptyDirectoryException", "DIRECTORY_NOT_EMPTY", false],
    ["AccessControlException", "ACCESS_DENIED", false],
    ["AuthorizationException", "ACCESS_DENIED", false],
    ["SecurityException", "AUTHENTICATION_FAILED", false],
    ["AuthenticationException", "AUTHENTICATION_FAILED", false],
    ["InvalidToken", "AUTHENTICATION_FAILED", false],
    ["SafeModeException", "SAFE_MODE", true],
    ["NSQuotaExceededException", "QUOTA_EXCEEDED", false],
    ["DSQuotaExceededException", "QUOTA_EXCEEDED", false],
    ["QuotaByStorageTypeExceededException", "QUOTA_EXCEEDED", false],
    ["StandbyException", "STANDBY", true],
    ["ObserverRetryOnActiveException", "STANDBY", true],
    ["RetriableException", "NOT_READY", true],
    ["AlreadyBeingCreatedException", "LEASE_HELD", false],
    ["RecoveryInProgressException", "LEASE_HELD", false],
    ["LeaseExpiredException", "LEASE_HELD", false],
    ["InvalidPathException", "INVALID_REQUEST", false],
    ["IllegalArgumentException", "INVALID_REQUEST", false],
    ["UnsupportedOperationException", "INVALID_REQUEST", false],
    ["NullPointerException", "REMOTE", false],
  ])("by %s is %s; trying again helps: %s", (exception, code, retryable) => {
    const javaClass = `org.example.${exception}`;
    expect(refusal(exception, "why")).toMatchObject({ code, retryable, javaClass, operation: "OPEN", path: "/f" });
  });

  test.each([
    ["File /f could only be replicated to 0 nodes instead of minReplication", "NO_SPACE", true],
    ["File /f could only be written to 0 of the 1 minReplication nodes", "NO_SPACE", true],
    ["Failed to find datanode, suggest to check cluster health", "NO_SPACE", true],
    ["Unable to create new block", "NO_SPACE", true],
    ["No space left on device", "NO_SPACE", true],
    ["NameNode still not started", "NOT_READY", true],
    ["Namesystem has not been initialized yet.", "NOT_READY", true],
    ["Cannot create /f. Name node is in safe mode.", "SAFE_MODE", true],
    ["/d is non empty: Directory is not empty", "DIRECTORY_NOT_EMPTY", false],
    ["Source /a and destination /d must both be directories", "FILE_EXISTS", false],
    ["Permission denied: user=ada", "ACCESS_DENIED", false],
    ["it is said: Permission denied", "REMOTE", false],
  ])("of a plain IOException, %j, is %s; trying again helps: %s", (message, code, retryable) => {
    expect(refusal("IOException", message)).toMatchObject({ code, retryable });
  });

  test.each([
    ["IOException", "why.\n\tat java", "OPEN /f: IOException: why"],
    ["FileNotFoundException", "File does not exist: /f", "OPEN /f: File does not exist: /f"],
    ["FileNotFoundException", "no v1.2 there.", "OPEN /f: no v1.2 there"],
    ["AccessControlException", "no", "OPEN /f: no"],
    ["InvalidToken", "expired", "OPEN /f: expired; the cluster does not accept this user as it signed in"],
    ["IOException", "", "OPEN /f: IOException: "],
  ])("by %s, %j, is told by its first line alone, with a way to mend it: %s", (exception, said, message) => {
    expect(refusal(exception, said).message).toBe(message);
  });

  test("of safe mode is that also where the NameNode only asks to be called again", () => {
    const inSafeMode = "Name node is in safe mode.\nIt was turned on manually";
    expect(refusal("RetriableException", inSafeMode)).toMatchObject({ code: "SAFE_MODE", retryable: true });
    expect(refusal("RetriableException", "NameNode still not started")).toMatchObject({ code: "NOT_READY" });
    expect(refusal("RetriableException", "why")).toMatchObject({ code: "NOT_READY", retryable: true });
    expect(refusal("FileNotFoundException", "/a is non empty").code).toBe("FILE_NOT_FOUND");
    expect(refusal("IOException", "/a is non empty")).toMatchObject({ code: "DIRECTORY_NOT_EMPTY", retryable: false });
  });

  test("with a name that every object has is one of an unknown exception", () => {
    for (const name of ["constructor", "toString", "__proto__"]) expect(refusal(name, "why").code).toBe("REMOTE");
  });

  test("is quoted without the tokens of an address in it", () => {
    const message = "cannot reach https://dn:9865/webhdfs/v1/f?op=OPEN&delegation=SECRET&offset=0";
    expect(refusal("IOException", message).message).toContain("/webhdfs/v1/f?op=OPEN&delegation=…&offset=0");
    expect(refusal("IOException", "at /jmx?TOKEN=SECRET and '/jmx?token=SECRET'").message).toBe(
      "OPEN /f: IOException: at /jmx?TOKEN=… and '/jmx?token=…'",
    );
  });

  test("of any shape is read in linear time", () => {
    const pieces = ["user=", "a", ", access=A", ', inode="', '":', ":", ".", "\n", ".\n", " "];
    for (const text of pumped(pieces)) expect(refusal("AccessControlException", text).code).toBe("ACCESS_DENIED");
  });
});
