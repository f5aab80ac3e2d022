import { describe, expect, it } from "@jest/globals";
import {
  attemptProof,
  clientAccess,
  executorIdentity,
  executorSecrets,
  formatClientAccess,
  isAttemptProof,
  makeIdentity,
  masterSecrets,
  OWNER,
  pageKey,
  parseClientAccess,
  parsePageKey,
  readExecutorIdentity,
  readMasterIdentity,
  tokenAccess,
  tokenOf,
  withoutOwnSecrets,
} from "../../src/api/identity.ts";

const applicationId = "application_1795305600000_0001";

describe("an application's identity", () => {
  const identity = makeIdentity(applicationId);
  const secretOf = (containerId: string) => executorIdentity(identity, containerId).caller.secret;

  it("is another one for every application made", () => {
    expect(makeIdentity(applicationId).key).not.toEqual(identity.key);
  });

  it("travels in credentials to the ApplicationMaster", () => {
    expect(readMasterIdentity(applicationId, masterSecrets(identity))).toEqual(identity);
  });

  it("gives each container a secret of its own, which each attempt knows", () => {
    const again = readMasterIdentity(applicationId, masterSecrets(identity));
    expect(secretOf("container_1_0001_01_000002")).toEqual(
      executorIdentity(again, "container_1_0001_01_000002").caller.secret,
    );
    expect(secretOf("container_1_0001_01_000002")).not.toEqual(secretOf("container_1_0001_01_000003"));
    expect(secretOf("container_1_0001_01_000002")).not.toEqual(secretOf("container_1_0001_02_000002"));
  });

  it("gives an executor that one secret, and nothing else", () => {
    const own = executorIdentity(identity, "c2");
    const secrets = executorSecrets(own);
    expect(readExecutorIdentity(applicationId, "c2", secrets)).toEqual(own);
    expect([...secrets.values()]).toEqual([own.caller.secret]);
    expect([identity.key, clientAccess(identity).caller.secret]).not.toContainEqual(own.caller.secret);
  });

  it("is not among the secrets that a program may have", () => {
    const users = new Map([["alice.db", Buffer.from("hers")]]);
    const all = new Map([...masterSecrets(identity), ...executorSecrets(executorIdentity(identity, "c2")), ...users]);
    expect(withoutOwnSecrets(all)).toEqual(users);
  });

  it("names what is missing from credentials", () => {
    const missing = (name: string) =>
      expect.objectContaining({ code: "IDENTITY_INCOMPLETE", message: expect.stringContaining(name) });
    expect(() => readMasterIdentity(applicationId, new Map())).toThrow(missing("tony.application.key"));
    const empty = new Map([["tony.executor.secret", new Uint8Array()]]);
    expect(() => readExecutorIdentity(applicationId, "c2", empty)).toThrow(missing("tony.executor.secret"));
  });

  it("lets an attempt show that there is one, and no other", () => {
    expect(isAttemptProof(identity, 2, attemptProof(identity, 2))).toBe(true);
    expect(isAttemptProof(identity, 3, attemptProof(identity, 2))).toBe(false);
    expect(isAttemptProof(identity, 2, attemptProof(makeIdentity(applicationId), 2))).toBe(false);
    expect(isAttemptProof(identity, 2, new Uint8Array())).toBe(false);
  });

  it("gives later clients their access as a file", () => {
    const access = clientAccess(identity);
    expect(access.caller.name).toBe(OWNER);
    expect(parseClientAccess(JSON.stringify(formatClientAccess(access)))).toEqual(access);
    const key = pageKey(access);
    expect(parsePageKey(JSON.stringify({ pageKey: key }))).toBe(key);
    expect(() => parsePageKey("{}")).toThrow("lacks pageKey");
    expect(JSON.stringify(formatClientAccess(access))).not.toContain(Buffer.from(identity.key).toString("base64url"));
  });

  it.each(["{}", "null", '{"applicationId":"a"}'])("refuses %s as a client's access", (text) => {
    expect(() => parseClientAccess(text)).toThrow(expect.objectContaining({ code: "IDENTITY_INCOMPLETE" }));
  });

  it("names who comes with a token by it", () => {
    const token = { identifier: Buffer.from([1, 2, 250]), password: Buffer.from("p") };
    const { caller } = tokenAccess(applicationId, token);
    expect(tokenOf(caller.name)).toEqual(token.identifier);
    expect(caller.secret).toEqual(token.password);
    expect(caller.name).not.toContain(" ");
    expect(tokenOf(OWNER)).toBeUndefined();
    // Each is read as the same identifier: with as many names as he likes a client would have as many calls.
    for (const other of [`${caller.name}=`, `${caller.name}.`, caller.name.replace(":", ":!"), `${caller.name}A`])
      expect(tokenOf(other)).toBeUndefined();
  });
});
