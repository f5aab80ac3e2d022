import { describe, expect, test } from "@jest/globals";
import type { CredentialsProvider } from "../../../src/hadoop/security/credentials-provider.ts";
import { AuthenticationError, authenticationFailure } from "../../../src/hadoop/security/errors.ts";
import { simpleCredentials, tokenCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { protectionsOf } from "./presented.ts";

const endpoint = { host: "rm", port: 8032 };
const rm = { transport: "rpc", protocol: "P", endpoint, endpoints: [endpoint] } as const;
const nameNode = { transport: "http", url: new URL("http://nn:9870/"), redirected: false } as const;
const token = { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind: "T", service: "" };

const shownTo = async (credentials: CredentialsProvider) => (await credentials.forHttp(nameNode)).begin();

describe("who is believed by name", () => {
  test("says it to web servers, and whom it acts for", async () => {
    expect(await shownTo(simpleCredentials({ name: "ada" }))).toEqual({ parameters: { "user.name": "ada" } });
    const acting = simpleCredentials({ name: "bob", realName: "ada" });
    expect(await shownTo(acting)).toEqual({ parameters: { "user.name": "ada", doas: "bob" } });
    expect(await acting.user()).toBe("bob");
  });

  test("says it to RPC servers without any exchange", async () => {
    const user = { name: "bob", realName: "ada" };
    const [strategy, ...others] = await simpleCredentials(user).forRpc(rm);
    expect(strategy).toMatchObject({ method: "SIMPLE", mechanism: "", user });
    const offer = { method: "SIMPLE", mechanism: "", protocol: "", serverId: "", challenge: new Uint8Array() };
    expect(await strategy?.start(offer)).toBeUndefined();
    expect(others).toEqual([]);
  });
});

describe.each([
  ["who is believed by name", simpleCredentials.bind(undefined, { name: "ada" })],
  ["who has only tokens", tokenCredentials],
])("%s", (_who, credentials) => {
  test("shows a service the token that YARN issued for it, and nothing else", async () => {
    expect(await credentials().forRpc({ ...rm, token })).toMatchObject([{ method: "TOKEN" }]);
  });

  test("accepts the protections and the certificates that are given", async () => {
    const given = credentials({ protections: ["auth-int", "auth"], trustedCertificates: "PEM" });
    expect(given.trustedCertificates).toBe("PEM");
    expect(await protectionsOf(await given.forRpc({ ...rm, token }))).toEqual(["auth-int"]);
    expect(await protectionsOf(await credentials().forRpc({ ...rm, token }))).toEqual(["auth-conf"]);
    expect(credentials().trustedCertificates).toBeUndefined();
  });
});

test("who has only tokens has no name, and shows web servers nothing", async () => {
  const credentials = tokenCredentials();
  expect(await credentials.user()).toBe("");
  expect(await credentials.forRpc(rm)).toEqual([]);
  expect(await shownTo(credentials)).toEqual({});
});

describe("a failure of credentials", () => {
  test("stays as it is if it has a code, else says that they cannot be used", () => {
    const known = new AuthenticationError("no ticket", { code: "KERBEROS_NO_TICKET" });
    expect(authenticationFailure(known, "HTTP_AUTHENTICATION")).toBe(known);
    const cause = new Error("no library");
    expect(authenticationFailure(cause, "HTTP_AUTHENTICATION")).toMatchObject({
      ...{ name: "AuthenticationError", code: "HTTP_AUTHENTICATION", cause, retryable: false },
      message: "The credentials cannot be used: no library",
    });
    expect(new AuthenticationError("no").code).toBe("RPC_AUTHENTICATION");
  });
});
