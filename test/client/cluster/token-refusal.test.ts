import { describe, expect, test } from "@jest/globals";
import { renewalRefusal, tokenRefusal } from "../../../client/cluster/token-refusal.ts";
import { errorMessage } from "../../../src/hadoop/errors.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import { AuthenticationError } from "../../../src/hadoop/security/errors.ts";

const token = (kind: string, service: string) => ({
  alias: service,
  token: { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind, service },
});
const given = {
  file: "/tokens",
  owner: "ada",
  credentials: {
    tokens: [token("HDFS_DELEGATION_TOKEN", "ha-hdfs:ns"), token("RM_DELEGATION_TOKEN", "10.0.0.1:8032")],
    secrets: new Map(),
  },
};

describe("a token that a server does not accept is named with its file, and how there will be another", () => {
  const unknown =
    "Failed to obtain user group information: InvalidToken: Token for real user: , can't be found in cache";
  const invalid = "org.apache.hadoop.security.token.SecretManager$InvalidToken";
  const expired = "token (RM_DELEGATION_TOKEN owner=ada) is expired, current time: 2026 expected renewal time: 2026";

  test.each([
    [
      new FileSystemError(`STAT /: ${unknown}`, { code: "AUTHENTICATION_FAILED" }),
      /^The token HDFS_DELEGATION_TOKEN for ha-hdfs:ns in \/tokens is no longer valid: .*\n {2}Ask whoever wrote the file for new tokens/,
    ],
    [
      new RemoteError(invalid, "Token  has expired, current time: 2026 expected renewal time: 2026"),
      /^The token RM_DELEGATION_TOKEN for 10\.0\.0\.1:8032 in \/tokens has expired: /,
    ],
    [
      new RemoteError(invalid, expired),
      /^The token RM_DELEGATION_TOKEN for 10\.0\.0\.1:8032 in \/tokens has expired: /,
    ],
  ])("%s", (error, message) => {
    expect(errorMessage(tokenRefusal(error, given))).toMatch(message);
  });

  const words = "rm:8032: Cannot log in: there is no Kerberos ticket\n  kinit";
  const noTicket = new AuthenticationError(words, { code: "KERBEROS_NO_TICKET" });
  const endedTicket = new AuthenticationError(words, { code: "KERBEROS_TICKET_EXPIRED" });
  test.each([
    ["RPC", noTicket],
    ["RPC, where a ticket has ended,", endedTicket],
    ["WebHDFS", new FileSystemError(words, { code: "AUTHENTICATION_FAILED", cause: noTicket })],
  ])("what %s needs beside tokens of other services is told with them", (_what, error) => {
    const told = tokenRefusal(error, given);
    expect(told?.code).toBe("TOKEN_MISSING");
    expect(told?.message).toBe(
      "/tokens (HADOOP_TOKEN_FILE_LOCATION) has tokens of other services alone " +
        "(HDFS_DELEGATION_TOKEN for ha-hdfs:ns, RM_DELEGATION_TOKEN for 10.0.0.1:8032), " +
        `and ${words}; or let whoever wrote the file obtain tokens of this cluster`,
    );
  });

  test("a file without any token is told as such, and is the cluster's exit code as the others are", () => {
    const empty = { ...given, credentials: { tokens: [], secrets: new Map() } };
    expect(tokenRefusal(noTicket, empty)).toMatchObject({
      ...{ code: "TOKEN_MISSING", exitCode: 3, cause: noTicket },
      message: expect.stringMatching(/^\/tokens \(HADOOP_TOKEN_FILE_LOCATION\) has no token, and rm:8032: /),
    });
    const ended = new RemoteError(invalid, expired);
    expect(tokenRefusal(ended, given)).toMatchObject({ code: "TOKEN_REFUSED", exitCode: 3, cause: ended });
  });

  test("any other refusal stays what it is", () => {
    expect(tokenRefusal(new RemoteError("AccessControlException", "no"), given)).toBeUndefined();
    expect(tokenRefusal(new FileSystemError("no", { code: "ACCESS_DENIED" }), given)).toBeUndefined();
    const caused = new FileSystemError("no", { code: "UNREACHABLE", cause: new Error("refused") });
    expect(tokenRefusal(caused, given)).toBeUndefined();
    expect(tokenRefusal(new Error(expired), given)).toBeUndefined();
    const mistaken = new AuthenticationError("no", { code: "KERBEROS_KEYTAB" });
    expect(tokenRefusal(mistaken, given)).toBeUndefined();
  });
});

describe("an application that is refused because of its tokens", () => {
  const identifier = "token for ada: HDFS_DELEGATION_TOKEN owner=ada@R, renewer=bob, realUser=, issueDate=1, maxDate=2";
  const diagnostics = `Failed to renew token: Kind: HDFS_DELEGATION_TOKEN, Service: ha-hdfs:far, Ident: (${identifier})`;

  test("is told with the token, who may renew it, and the keys for NameNodes that the ResourceManager does not know", () => {
    const told = renewalRefusal(diagnostics);
    expect(told).toMatch(/cannot renew the delegation token HDFS_DELEGATION_TOKEN for ha-hdfs:far\n {2}Only bob may/);
    expect(told).toContain("mapreduce.job.send-token-conf");
  });

  test("is told without who may renew it where nobody may", () => {
    expect(renewalRefusal(diagnostics.replace("renewer=bob", "renewer="))).toMatch(
      /^The ResourceManager refuses the job, because it cannot renew the delegation token HDFS_DELEGATION_TOKEN for ha-hdfs:far\n {2}If it does not know/,
    );
  });

  test("is no other refusal", () => {
    expect(renewalRefusal("Application rejected by queue placement policy")).toBeUndefined();
  });
});
