import { readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { TaskTokens } from "../../executor/task-tokens.ts";
import { executorSecrets } from "../../src/api/identity.ts";
import type { Credentials } from "../../src/hadoop/security/credentials.ts";
import { readTokenFile, writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { executor } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const bytes = (text: string) => Uint8Array.from(Buffer.from(text));
const credentials = (password: string): Credentials => ({
  tokens: [
    {
      alias: "nn",
      token: { identifier: bytes("id"), password: bytes(password), kind: "HDFS_DELEGATION_TOKEN", service: "nn:8020" },
    },
  ],
  secrets: new Map([["theirs", bytes("own")], ...executorSecrets(executor)]),
});

const folder = temporaryFolder();

describe("the token file of a task's program", () => {
  it("has the user's tokens and secrets, and nothing that the executor proves itself with", () => {
    const { file } = TaskTokens.open(folder.path, credentials("first"));
    const { tokens, secrets } = readTokenFile(readFileSync(file));
    expect(tokens).toEqual(credentials("first").tokens);
    expect([...secrets.keys()]).toEqual(["theirs"]);
  });

  it("is for its user alone", () => {
    const { file } = TaskTokens.open(folder.path, credentials("first"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("is replaced whole when newer tokens come; the executor holds those, too", async () => {
    const tokens = TaskTokens.open(folder.path, credentials("first"));
    const before = statSync(tokens.file).ino;
    await tokens.renew(writeTokenFile({ ...credentials("second"), secrets: new Map() }));
    expect(readTokenFile(readFileSync(tokens.file)).tokens).toEqual(credentials("second").tokens);
    expect(tokens.held().tokens).toEqual(credentials("second").tokens);
    expect([...tokens.held().secrets.keys()]).toEqual(["theirs"]);
    expect(statSync(tokens.file).ino).not.toBe(before);
    expect(readdirSync(folder.path)).toHaveLength(1);
  });
});
