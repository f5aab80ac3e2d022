import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../../src/hadoop/conf/configuration.ts";
import { RpcClient } from "../../../../src/hadoop/rpc/client.ts";
import { configuredCredentials } from "../../../../src/hadoop/security/configured-credentials.ts";
import type { CredentialsProvider, HttpService } from "../../../../src/hadoop/security/credentials-provider.ts";
import { AuthenticationError } from "../../../../src/hadoop/security/errors.ts";
import { GssError, type KeytabLogin } from "../../../../src/hadoop/security/kerberos/gss-api.ts";
import { kerberosCredentials } from "../../../../src/hadoop/security/kerberos/kerberos-credentials.ts";
import { KerberosLogin } from "../../../../src/hadoop/security/kerberos/login.ts";
import type { User } from "../../../../src/hadoop/security/user.ts";
import { kerberosServer } from "../../../support/kerberos-server.ts";
import {
  type Behaviour,
  delimited,
  echo,
  failureFrame,
  RpcTestServer,
  saslOf,
  saslReply,
} from "../../../support/rpc-server.ts";
import { type GssScript, ScriptedGss } from "../../../support/scripted-gss.ts";
import { protectionsOf } from "../presented.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const alice = { principal: "alice@EXAMPLE.COM" };
const secure = {
  "hadoop.security.authentication": "kerberos",
  "yarn.resourcemanager.principal": "rm/_HOST@EXAMPLE.COM",
};

/** Who is logged in here, and where. */
interface Scene {
  readonly script?: GssScript;
  readonly values?: Readonly<Record<string, string>>;
  readonly user?: User;
  readonly login?: KeytabLogin;
}

function scene({ script = alice, values = {}, user = { name: "os-user" }, login }: Scene) {
  const gss = new ScriptedGss(script);
  const configuration = new Configuration().withValues({ ...secure, ...values });
  const credentials = configuredCredentials(configuration, user, (options) =>
    kerberosCredentials({
      ...options,
      login: new KerberosLogin(login, async () => gss),
      canonicalName: async () => "rm.example.com",
    }),
  );
  return { gss, credentials };
}

/** The answer of one call. */
async function called(behaviour: Behaviour, credentials: CredentialsProvider): Promise<string> {
  const server = await RpcTestServer.start(behaviour);
  const protocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";
  const client = new RpcClient({ endpoints: [server.endpoint], protocol, credentials });
  closing.push(
    () => client.close(),
    () => server.stop(),
  );
  return Buffer.from(await client.call("whoAmI", delimited(Buffer.from("me")))).toString();
}

const resourceManager = (layers = 7) => kerberosServer({ principal: "rm/rm.example.com@EXAMPLE.COM", layers });
const SUCCESS = 0;
const NEGOTIATE = 1;
/** Lets anyone in. */
const open: Behaviour = {
  onFrame: ({ socket, frames }) => void (frames.length === 1 && socket.write(saslReply({ state: SUCCESS }))),
  ...echo,
};

describe("by Kerberos over RPC", () => {
  test.each([
    ["authentication", 1],
    ["integrity", 2],
    ["privacy", 4],
  ])("the ticket says who calls, with %s", async (protection, layers) => {
    const { credentials, gss } = scene({ values: { "hadoop.rpc.protection": protection } });
    expect(await called(resourceManager(layers), credentials)).toBe("alice@EXAMPLE.COM");
    expect(gss.initiated).toEqual(["alice@EXAMPLE.COM to rm/rm.example.com@EXAMPLE.COM by krb5"]);
  });

  test("less protection than is configured is refused", async () => {
    const { credentials } = scene({ values: { "hadoop.rpc.protection": "privacy" } });
    await expect(called(resourceManager(3), credentials)).rejects.toThrow(/this client accepts auth-conf/);
  });

  test("a service acts for a user: he is named beside the service's own proof", async () => {
    const user = { name: "bob", realName: "azkaban" };
    const { credentials } = scene({ script: { principal: "azkaban@EXAMPLE.COM" }, user });
    expect(await called(resourceManager(), credentials)).toBe("bob");
    expect(await credentials.user()).toBe("bob");
  });

  test("a server that is not the one configured is not called", async () => {
    const { credentials, gss } = scene({ values: { "yarn.resourcemanager.principal": "rm/other@EXAMPLE.COM" } });
    await expect(called(resourceManager(), credentials)).rejects.toMatchObject({ code: "KERBEROS_SERVER" });
    expect(gss.initiated).toEqual([]);
  });

  test("without a ticket the error says so, and nothing is sent", async () => {
    const { credentials } = scene({ script: {} });
    await expect(called(resourceManager(), credentials)).rejects.toMatchObject({ code: "KERBEROS_NO_TICKET" });
  });

  test("where krb5.conf says nothing of realms, the error says what it must name: for the user's name, and for a server's", async () => {
    const { credentials, gss } = scene({ values: { "yarn.resourcemanager.principal": "rm/_HOST" } });
    const unknown = async () => {
      throw new GssError("Configuration file does not specify default realm");
    };
    gss.defaultRealm = unknown;
    gss.realmOf = unknown;
    const setUp = { code: "KERBEROS_REALM", message: expect.stringMatching(/Cannot log in: .*\n {2}krb5\.conf /) };
    await expect(credentials.user()).rejects.toMatchObject(setUp);
    await expect(called(resourceManager(), credentials)).rejects.toMatchObject(setUp);
  });

  test("a server that takes no ticket says no more than that; the error says what may be wrong", async () => {
    const refusing: Behaviour = {
      onFrame: ({ socket }, frame) => {
        const kerberos = { method: "KERBEROS", mechanism: "GSSAPI", protocol: "rm", serverId: "rm.example.com" };
        const isFirst = saslOf(frame).state === NEGOTIATE;
        if (isFirst) socket.write(saslReply({ state: NEGOTIATE, auths: [kerberos] }));
        else socket.end(failureFrame(-33, "FATAL", "javax.security.sasl.SaslException", "GSS initiate failed"));
      },
    };
    await expect(called(refusing, scene({}).credentials)).rejects.toMatchObject({
      code: "KERBEROS_SERVER",
      message: expect.stringMatching(/rm\/rm.example.com@EXAMPLE.COM refuses the Kerberos ticket.*GSS initiate failed/),
    });
  });

  test("a library that is missing is an error of its own", async () => {
    const missing = new AuthenticationError("no libgssapi", { code: "KERBEROS_LIBRARY_MISSING" });
    const credentials = configuredCredentials(new Configuration().withValues(secure), { name: "a" }, (options) =>
      kerberosCredentials({ ...options, login: new KerberosLogin(undefined, () => Promise.reject(missing)) }),
    );
    await expect(called(resourceManager(), credentials)).rejects.toMatchObject({ code: "KERBEROS_LIBRARY_MISSING" });
  });

  test("the ticket is looked for at each new connection: kinit is noticed", async () => {
    const { credentials, gss } = scene({ script: {} });
    await expect(called(resourceManager(), credentials)).rejects.toMatchObject({ code: "KERBEROS_NO_TICKET" });
    gss.script = alice;
    expect(await called(resourceManager(), credentials)).toBe("alice@EXAMPLE.COM");
  });
});

describe("a server that asks for no proof", () => {
  test("is not called, and the error names the key", async () => {
    await expect(called(open, scene({}).credentials)).rejects.toMatchObject({
      code: "SERVER_NOT_SECURE",
      message: expect.stringContaining("hadoop.security.authentication"),
    });
  });

  const fallback = { "ipc.client.fallback-to-simple-auth-allowed": "true" };

  test("is called where the configuration allows it, with or without a ticket", async () => {
    expect(await called(open, scene({ values: fallback }).credentials)).toBe("me");
    expect(await called(open, scene({ values: fallback, script: {} }).credentials)).toBe("me");
  });

  test("one that asks is still shown the ticket then, whose absence is the error", async () => {
    expect(await called(resourceManager(), scene({ values: fallback }).credentials)).toBe("alice@EXAMPLE.COM");
    const { credentials } = scene({ values: fallback, script: {} });
    await expect(called(resourceManager(), credentials)).rejects.toMatchObject({ code: "KERBEROS_NO_TICKET" });
  });
});

describe("a web server that asks for no proof", () => {
  const webHdfs = { transport: "http", url: new URL("http://nn:9870/webhdfs/v1/"), redirected: false } as const;

  async function answered(service: HttpService, values?: Readonly<Record<string, string>>): Promise<string> {
    const http = await scene({ values: values ?? {} }).credentials.forHttp(service);
    await http.begin();
    await http.complete?.({}, 200);
    return "used";
  }

  test("is not believed", async () => {
    await expect(answered(webHdfs)).rejects.toMatchObject({ code: "SERVER_NOT_SECURE" });
  });

  test("is believed where the configuration allows it, where a redirect led there, and where it is a page of YARN", async () => {
    expect(await answered(webHdfs, { "ipc.client.fallback-to-simple-auth-allowed": "true" })).toBe("used");
    expect(await answered({ ...webHdfs, redirected: true })).toBe("used");
    expect(await answered({ ...webHdfs, mayBeOpen: true })).toBe("used");
  });
});

test("the user is the principal's short name, by the cluster's rules", async () => {
  const rules = { "hadoop.security.auth_to_local": "RULE:[1:$1]s/^/u_/" };
  expect(await scene({}).credentials.user()).toBe("alice");
  expect(await scene({ values: rules }).credentials.user()).toBe("u_alice");
});

describe("a keytab", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-keytab-"));
  const keytab = path.join(folder, "alice.keytab");
  const entry = Buffer.concat([
    Buffer.from([0, 1, 0, 11]),
    Buffer.from("EXAMPLE.COM"),
    Buffer.from([0, 5]),
    Buffer.from("alice"),
  ]);
  writeFileSync(keytab, Buffer.concat([Buffer.from([5, 2, 0, 0, 0, entry.length]), entry]));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is what is logged in with, with or without the realm", async () => {
    const { credentials, gss } = scene({ script: {}, login: { ...alice, keytab } });
    expect(await called(resourceManager(), credentials)).toBe("alice@EXAMPLE.COM");
    expect(gss.acquired).toEqual(["alice@EXAMPLE.COM"]);
    expect(await scene({ login: { principal: "alice", keytab } }).credentials.user()).toBe("alice");
  });

  test.each([
    ["that is missing", { ...alice, keytab: `${folder}/none` }, /none/],
    ["of another principal", { principal: "bob@EXAMPLE.COM", keytab }, /is of alice@EXAMPLE.COM/],
    ["that is none", { ...alice, keytab: import.meta.filename }, /is not a keytab/],
  ])("%s is an error that names both", async (_name, login, words) => {
    const { credentials, gss } = scene({ login });
    await expect(credentials.user()).rejects.toMatchObject({
      code: "KERBEROS_KEYTAB",
      message: expect.stringMatching(words),
    });
    expect(gss.acquired).toEqual([]);
  });
});

describe("who logs in by Kerberos", () => {
  const endpoint = { host: "rm.example.com", port: 8032 };
  const rm = {
    transport: "rpc",
    protocol: "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB",
    endpoint,
    endpoints: [endpoint],
  } as const;

  test("shows a service the token that YARN issued for it, with the protections of the site, and asks for no ticket", async () => {
    const values = { "hadoop.rpc.protection": "integrity", "ssl.client.truststore.pem": "PEM" };
    const { gss, credentials } = scene({ values });
    const token = { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind: "T", service: "" };
    const strategies = await credentials.forRpc({ ...rm, token });
    expect(strategies).toMatchObject([{ method: "TOKEN" }]);
    expect(await protectionsOf(strategies)).toEqual(["auth-int"]);
    expect(gss.acquired).toEqual([]);
    expect(credentials.trustedCertificates).toBe("PEM");
  });

  test("acts as itself, or for whom a service acts, over RPC and HTTP alike", async () => {
    const http = { transport: "http", url: new URL("https://nn.example.com:9871/"), redirected: false } as const;
    const own = scene({}).credentials;
    expect(await own.forRpc(rm)).toMatchObject([{ method: "KERBEROS", user: { name: "alice@EXAMPLE.COM" } }]);
    expect(await (await own.forHttp(http)).begin()).toEqual({});
    const proxied = scene({ user: { name: "bob", realName: "alice" } }).credentials;
    expect(await proxied.forRpc(rm)).toMatchObject([{ method: "KERBEROS", user: { name: "bob" } }]);
    expect(await (await proxied.forHttp(http)).begin()).toEqual({ parameters: { doas: "bob" } });
    expect(await proxied.user()).toBe("bob");
  });
});
