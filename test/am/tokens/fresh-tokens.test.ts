import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { FreshTokens, lookForTokensMs, type TokenFile } from "../../../am/tokens/fresh-tokens.ts";
import { wallClock } from "../../../src/hadoop/clock.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { Credentials } from "../../../src/hadoop/security/credentials.ts";
import { TokenKind } from "../../../src/hadoop/security/token.ts";
import { writeTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { silentLog } from "../../support/silent-log.ts";

const token = (kind: string, identifier: string | Uint8Array, service = "ha-hdfs:ns") => ({
  alias: service,
  token: { identifier: Buffer.from(identifier), password: Buffer.from("pw"), kind, service },
});
const ofMaster = token(TokenKind.applicationMaster, "am", "");
const given: Credentials = {
  tokens: [ofMaster, token(TokenKind.hdfsDelegation, "first")],
  secrets: new Map([["own", Buffer.from("secret")]]),
};

/** A staging folder whose token file a client replaces. */
class StagedTokens implements TokenFile {
  readonly path = "/staging/tokens";
  content: Uint8Array | undefined;
  writtenAtMs = 0;
  reads = 0;

  replace(...tokens: Credentials["tokens"]): void {
    this.content = writeTokenFile({ tokens, secrets: new Map() });
    this.writtenAtMs += 1;
  }

  readonly fileSystem = {
    stat: async (path: string) => {
      if (this.content === undefined) throw new FileSystemError("gone", { code: "FILE_NOT_FOUND" });
      const { writtenAtMs: modificationTimeMs } = this;
      const who = { owner: "ada", group: "g", permission: 0o600 };
      return { path, type: "FILE" as const, lengthBytes: 1, modificationTimeMs, accessTimeMs: 0, ...who };
    },
    open: async () => {
      this.reads += 1;
      return Readable.from([Buffer.from(this.content ?? [])]);
    },
  };
}

function setUp() {
  const staged = new StagedTokens();
  const told: number[] = [];
  const warned: string[] = [];
  const tokens = new FreshTokens({
    given,
    clock: wallClock,
    log: { ...silentLog, warn: (event) => void warned.push(event) },
    replaced: () => told.push(tokens.held().tokens.length),
  });
  return { staged, told, tokens, warned };
}

describe("an ApplicationMaster's delegation tokens", () => {
  test("are YARN's while the client has left none", async () => {
    const { staged, told, tokens } = setUp();
    await tokens.look(staged);
    expect(tokens.held()).toEqual(given);
    expect([tokens.areReplaced, told]).toEqual([false, []]);
  });

  test("are replaced, kind by kind and service by service, by those that it leaves; the rest stays", async () => {
    const { staged, told, tokens } = setUp();
    const second = token(TokenKind.hdfsDelegation, "second");
    const further = token(TokenKind.hdfsDelegation, "further", "ha-hdfs:ns2");
    staged.replace(second, further);
    await tokens.look(staged);
    expect(tokens.held()).toEqual({ tokens: [ofMaster, second, further], secrets: given.secrets });
    expect([tokens.areReplaced, told]).toEqual([true, [3]]);
  });

  test("are read once each time they change", async () => {
    const { staged, tokens } = setUp();
    staged.replace(token(TokenKind.hdfsDelegation, "second"));
    await tokens.look(staged);
    await tokens.look(staged);
    expect(staged.reads).toBe(1);
    staged.replace(token(TokenKind.hdfsDelegation, "third"));
    await tokens.look(staged);
    expect(tokens.held().tokens).toContainEqual(token(TokenKind.hdfsDelegation, "third"));
  });

  test("stay as they are while the file is damaged, which is read again", async () => {
    const { staged, told, tokens } = setUp();
    staged.content = Buffer.from("HDT");
    await tokens.look(staged);
    expect([tokens.areReplaced, told]).toEqual([false, []]);
    staged.content = writeTokenFile({ tokens: [token(TokenKind.hdfsDelegation, "second")], secrets: new Map() });
    await tokens.look(staged);
    expect(tokens.areReplaced).toBe(true);
  });

  test("that cannot be read are told of once, and again after some that could", async () => {
    const { staged, tokens, warned } = setUp();
    const damaged = async () => {
      staged.replace();
      staged.content = Buffer.from("HDT");
      for (const _ of [1, 2]) await tokens.look(staged);
    };
    await damaged();
    expect(warned).toEqual(["tokens-unreadable"]);
    staged.replace(token(TokenKind.hdfsDelegation, "second"));
    await tokens.look(staged);
    await damaged();
    expect(warned).toEqual(["tokens-unreadable", "tokens-unreadable"]);
  });
});

describe("how often newer tokens are looked for", () => {
  /** Issued at 0, with that longest life (AbstractDelegationTokenIdentifier). */
  const living = (lifeHex: string) => token(TokenKind.hdfsDelegation, Buffer.from(`0000000000${lifeHex}0101`, "hex"));

  test.each([
    ["each minute, for tokens of a week", "8c240c8400", 60_000],
    ["within a twentieth of a shorter life", "8eea60", 3_000],
    ["not more often than each second", "8e03e8", 1_000],
  ])("%s", (_how, lifeHex, expectedMs) => {
    expect(lookForTokensMs({ tokens: [living(lifeHex)], secrets: new Map() })).toBe(expectedMs);
  });
});
