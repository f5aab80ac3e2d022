import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "@jest/globals";
import { ContainerTokens } from "../../src/api/container-tokens.ts";
import { executorIdentity, executorSecrets, makeIdentity } from "../../src/api/identity.ts";
import { readTokenFile, writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("a container's token file", () => {
  const ours = executorSecrets(executorIdentity(makeIdentity("application_1_0001"), "c2"));
  const users = new Map([["alice.db", Buffer.from("hers")]]);
  const token = { identifier: Buffer.from("i"), password: Buffer.from("p"), kind: "k", service: "s" };
  const folder = temporaryFolder();
  let file = "";
  const inFile = () => readTokenFile(readFileSync(file));

  beforeEach(() => {
    file = path.join(folder.path, "container_tokens");
    const credentials = { tokens: [{ alias: "a", token }], secrets: new Map([...users, ...ours]) };
    writeFileSync(file, writeTokenFile(credentials), { mode: 0o600 });
  });

  it("has the user's tokens and secrets alone once ours are taken", () => {
    const { credentials } = ContainerTokens.take(file);
    expect(credentials.secrets).toEqual(new Map([...users, ...ours]));
    expect(inFile().secrets).toEqual(users);
    expect(inFile().tokens).toEqual([{ alias: "a", token }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("has ours again for the next executor, beside the tokens that came meanwhile", () => {
    const tokens = ContainerTokens.take(file);
    const renewed = { alias: "a", token: { ...token, password: Buffer.from("new") } };
    writeFileSync(file, writeTokenFile({ tokens: [renewed], secrets: users }));
    tokens.putBack();
    expect(inFile()).toEqual({ tokens: [renewed], secrets: new Map([...users, ...ours]) });
  });
});
