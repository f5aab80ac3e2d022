import { describe, expect, test } from "@jest/globals";
import { type SaslMessage, SaslState } from "../../../../src/hadoop/rpc/messages.ts";
import { RemoteError } from "../../../../src/hadoop/rpc/remote-error.ts";
import { negotiate, refusedForKerberos } from "../../../../src/hadoop/rpc/sasl/negotiation.ts";
import { AuthenticationError } from "../../../../src/hadoop/security/errors.ts";
import type { AuthenticationStrategy, SaslMechanism } from "../../../../src/hadoop/security/sasl/mechanism.ts";
import { simple } from "../../../../src/hadoop/security/simple-credentials.ts";

const user = { name: "ada" };
const offer = (method: string, mechanism: string) => ({ method, mechanism });
const offers = (...auths: NonNullable<SaslMessage["auths"]>[number][]): SaslMessage => ({
  state: SaslState.NEGOTIATE,
  auths,
});
const layer = {
  maxMessageBytes: 1,
  wrap: (message: Uint8Array) => Buffer.from(message),
  unwrap: (message: Uint8Array) => Buffer.from(message),
};

/** Answers each challenge with itself in brackets, and has a layer in the end. */
const mechanism: SaslMechanism = {
  respond: (challenge) => Buffer.from(`(${Buffer.from(challenge)})`),
  complete: (proof) => (String(Buffer.from(proof)) === "proof" ? layer : undefined),
};
const strategy = (method: string, name: string, changes: Partial<AuthenticationStrategy> = {}) => ({
  ...{ method, mechanism: name, start: () => mechanism },
  ...changes,
});
const token = strategy("TOKEN", "DIGEST-MD5");
const kerberos = strategy("KERBEROS", "GSSAPI");

/** Negotiates with a server that says this, message by message; an error ends the connection. */
function withServer(said: readonly (SaslMessage | Error)[], strategies: readonly AuthenticationStrategy[]) {
  const sent: SaslMessage[] = [];
  const left = [...said];
  const receive = async () => {
    const next = left.shift() ?? new Error("nothing more is said");
    if (next instanceof Error) throw next;
    return next;
  };
  const send = (message: SaslMessage) => void sent.push(message);
  return { sent, negotiated: negotiate({ send, receive }, strategies) };
}

const success = (text?: string): SaslMessage => ({
  state: SaslState.SUCCESS,
  ...(text === undefined ? {} : { token: Buffer.from(text) }),
});
const challenge = (text?: string): SaslMessage => ({
  state: SaslState.CHALLENGE,
  ...(text === undefined ? {} : { token: Buffer.from(text) }),
});

describe("a negotiation", () => {
  test("answers the server's first challenge and each further one, and ends with its proof", async () => {
    const first = { ...offer("TOKEN", "DIGEST-MD5"), protocol: "p", serverId: "s", challenge: Buffer.from("a") };
    const server = [offers(first), challenge("b"), challenge(), success("proof")];
    const { sent, negotiated } = withServer(server, [strategy("TOKEN", "DIGEST-MD5", { user })]);
    expect(await negotiated).toEqual({ user, layer });
    expect(sent).toEqual([
      { state: SaslState.NEGOTIATE },
      {
        state: SaslState.INITIATE,
        token: Buffer.from("(a)"),
        auths: [{ method: "TOKEN", mechanism: "DIGEST-MD5", protocol: "p", serverId: "s" }],
      },
      { state: SaslState.RESPONSE, token: Buffer.from("(b)") },
      { state: SaslState.RESPONSE, token: Buffer.from("()") },
    ]);
  });

  test("may end without a layer, and without a last message", async () => {
    const { negotiated } = withServer([offers(offer("TOKEN", "DIGEST-MD5")), success()], [token]);
    expect(await negotiated).toEqual({ user: undefined, layer: undefined });
  });

  test("tells its mechanism the whole offer", async () => {
    const told: unknown[] = [];
    const start = (whole: unknown) => {
      told.push(whole);
      return mechanism;
    };
    const bare = offer("TOKEN", "DIGEST-MD5");
    await withServer([offers(bare), success()], [strategy("TOKEN", "DIGEST-MD5", { start })]).negotiated;
    expect(told).toEqual([{ ...bare, protocol: "", serverId: "", challenge: new Uint8Array() }]);
  });

  test("takes the first of the server's offers that it has, by method and mechanism", async () => {
    const server = [
      offers(offer("TOKEN", "SCRAM"), offer("OTHER", "DIGEST-MD5"), offer("SIMPLE", ""), offer("TOKEN", "DIGEST-MD5")),
    ];
    const { sent, negotiated } = withServer(server, [token, simple(user)]);
    expect(await negotiated).toEqual({ user });
    expect(sent.slice(1)).toEqual([
      { state: SaslState.INITIATE, auths: [{ method: "SIMPLE", mechanism: "", protocol: "", serverId: "" }] },
    ]);
  });

  test.each([
    ["that offers nothing", [offers()], [token], "RPC_AUTHENTICATION"],
    ["that goes on out of turn", [challenge("a")], [token], "RPC_PROTOCOL"],
    [
      "that asks anew in the middle",
      [offers(offer("TOKEN", "DIGEST-MD5")), offers(offer("TOKEN", "DIGEST-MD5"))],
      [token],
      "RPC_PROTOCOL",
    ],
    ["that believes anybody, where it was to check a token", [success()], [token], "RPC_AUTHENTICATION"],
    ["that believes anybody, where it was to check a ticket", [success()], [token, kerberos], "SERVER_NOT_SECURE"],
    [
      "that offers to believe a name, where it was to check a ticket",
      [offers(offer("TOKEN", "SCRAM"), offer("SIMPLE", ""))],
      [token, kerberos],
      "SERVER_NOT_SECURE",
    ],
    [
      "that offers to believe a name, where there is only a token",
      [offers(offer("SIMPLE", ""))],
      [token],
      "RPC_AUTHENTICATION",
    ],
    ["that wants a ticket", [offers(offer("KERBEROS", "GSSAPI"))], [token], "KERBEROS_NEEDED"],
  ] as const)("fails with a server %s", async (_what, server, strategies, code) => {
    await expect(withServer(server, strategies).negotiated).rejects.toMatchObject({ code });
  });

  test("that is accepted by name alone has that name", async () => {
    expect(await withServer([success()], [kerberos, simple(user)]).negotiated).toEqual({ user });
  });

  test("without anything in common says what either side has", async () => {
    await expect(withServer([offers(offer("TOKEN", "SCRAM"))], [token, kerberos]).negotiated).rejects.toThrow(
      "The server accepts TOKEN/SCRAM; this client has TOKEN/DIGEST-MD5, KERBEROS/GSSAPI",
    );
    await expect(withServer([offers()], []).negotiated).rejects.toThrow(
      "The server accepts no mechanism; this client has nothing to show",
    );
  });

  test("that the server refuses is explained by its mechanism, if that can", async () => {
    const cause = new Error("refused");
    const server = [offers(offer("TOKEN", "DIGEST-MD5")), cause];
    await expect(withServer(server, [token]).negotiated).rejects.toBe(cause);
    const explained = new AuthenticationError("the ticket is old");
    const refused = (told: unknown) => (told === cause ? explained : undefined);
    const explaining = strategy("TOKEN", "DIGEST-MD5", { start: () => ({ ...mechanism, refused }) });
    await expect(withServer(server, [explaining]).negotiated).rejects.toBe(explained);
  });
});

test.each([
  ["AccessControlException", "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]", true],
  ["AccessControlException", "SIMPLE authentication is not enabled.  Available:[TOKEN]", false],
  ["AccessControlException", "KERBEROS is not for you", false],
  ["IOException", "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]", false],
])("a bare name is refused for Kerberos by %s, %j: %s", (name, message, expected) => {
  expect(refusedForKerberos(new RemoteError(`org.apache.hadoop.security.${name}`, message))).toBe(expected);
});
