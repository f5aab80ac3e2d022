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
  });

  test("of any shape is read in linear time", () => {
    const pieces = ["user=", "a", ", access=A", ', inode="', '":', ":", ".", "\n", ".\n", " "];
    for (const text of pumped(pieces)) expect(refusal("AccessControlException", text).code).toBe("ACCESS_DENIED");
  });
});
