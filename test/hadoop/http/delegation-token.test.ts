import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { kmsDelegationToken } from "../../../src/hadoop/hdfs/delegation-token.ts";
import { httpDelegationToken } from "../../../src/hadoop/http/delegation-token.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { tokenToUrlText } from "../../../src/hadoop/security/token-writable.ts";
import { answer, HostileHttpServer } from "../../support/hostile-http-server.ts";

const token = { identifier: Uint8Array.of(1), password: Uint8Array.of(2), kind: "kms-dt", service: "" };
const given = answer(200, { Token: { urlString: tokenToUrlText(token) } });
const options = { credentials: simpleCredentials({ name: "ada" }), renewer: "rm/h@EXAMPLE.COM" };

let server: HostileHttpServer;
beforeAll(async () => {
  server = await HostileHttpServer.start();
});
afterAll(() => server.stop());
beforeEach(() => server.behave(given));

describe("a delegation token of a web server", () => {
  const ask = () => httpDelegationToken(`${server.address}/kms/v1/`, options);

  test("is asked for with who may renew it", async () => {
    const { identifier, ...others } = await ask();
    expect([Array.from(identifier), others.kind, others.service]).toEqual([[1], "kms-dt", ""]);
    expect(server.requests).toEqual(["GET /kms/v1/?op=GETDELEGATIONTOKEN&renewer=rm%2Fh%40EXAMPLE.COM&user.name=ada"]);
  });

  test.each([
    [403, "not for you", "NO_TOKEN"],
    [200, "<html>", "TOKEN_MALFORMED"],
    [200, JSON.stringify({ Token: {} }), "TOKEN_MALFORMED"],
    [200, JSON.stringify({ Token: { urlString: "AA" } }), "TOKEN_MALFORMED"],
  ])("is not in an answer %i %s", async (status, text, code) => {
    server.behave(answer(status, text));
    await expect(ask()).rejects.toMatchObject({ code });
  });
});

describe("a delegation token of key servers", () => {
  const provider = (...hosts: readonly string[]) => {
    return `kms://http@${hosts.join(";")}:${new URL(server.address).port}/kms`;
  };

  test("is the first one's that answers, and is filed under them all", async () => {
    const both = provider("no-such-host.invalid", "127.0.0.1");
    expect(await kmsDelegationToken(both, options)).toMatchObject({ kind: "kms-dt", service: both });
  });

  test("where none gives one the last one's reason is told; where none is named, that", async () => {
    server.behave(answer(403, "no"));
    await expect(kmsDelegationToken(provider("no-such-host.invalid", "127.0.0.1"), options)).rejects.toMatchObject({
      code: "NO_TOKEN",
    });
    await expect(kmsDelegationToken("kms://nobody", options)).rejects.toMatchObject({ code: "CONFIGURATION" });
  });
});
