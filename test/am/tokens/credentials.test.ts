import { expect, test } from "@jest/globals";
import { executorCredentials, masterToken, userTokens } from "../../../am/tokens/credentials.ts";
import { executorIdentity, makeIdentity, masterSecrets, readExecutorIdentity } from "../../../src/api/identity.ts";
import type { Credentials, NamedToken } from "../../../src/hadoop/security/credentials.ts";
import { TokenKind } from "../../../src/hadoop/security/token.ts";
import { readTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { aDelegationToken } from "../../support/tokens.ts";

const identity = makeIdentity("application_1_0001");
const users = aDelegationToken(1, 2);
const masters: NamedToken = { alias: "am", token: { ...users.token, kind: TokenKind.applicationMaster } };
const own: Credentials = {
  tokens: [masters, users],
  secrets: new Map([...masterSecrets(identity), ["MY_KEY", Buffer.from("mine")]]),
};

test("an attempt proves itself to the ResourceManager by its own token, and cannot without one", () => {
  expect(masterToken(own, "the file")).toBe(masters.token);
  expect(() => masterToken({ ...own, tokens: [users] }, "the file")).toThrow(
    expect.objectContaining({ code: "TOKEN_MISSING", message: "the file holds no token for the ResourceManager" }),
  );
});

test("a task's container gets the user's tokens and secrets and its own executor's, and nothing of the ApplicationMaster's", () => {
  const { tokens, secrets } = readTokenFile(executorCredentials(own, identity, "c2"));
  expect(tokens.map(({ token }) => token.kind)).toEqual([users.token.kind]);
  expect(Buffer.from(secrets.get("MY_KEY") ?? "").toString()).toBe("mine");
  const { caller } = readExecutorIdentity("application_1_0001", "c2", secrets);
  expect(caller).toEqual(executorIdentity(identity, "c2").caller);
  for (const name of masterSecrets(identity).keys()) expect(secrets.has(name)).toBe(false);
  expect(secrets.size).toBe(2);
});

test("newer tokens go to programs without any secret", () => {
  const { tokens, secrets } = readTokenFile(userTokens(own));
  expect([tokens.length, secrets.size]).toEqual([1, 0]);
});
