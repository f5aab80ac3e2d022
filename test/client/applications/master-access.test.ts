import { beforeEach, describe, expect, test } from "@jest/globals";
import { MasterAccess } from "../../../client/applications/master-access.ts";
import { clientAccess, formatClientAccess, makeIdentity, tokenAccess } from "../../../src/api/identity.ts";
import { FileSystemError, type FileSystemErrorCode } from "../../../src/hadoop/hdfs/errors.ts";

const id = "application_1_0001";
const [first, second] = ["appattempt_1_0001_000001", "appattempt_1_0001_000002"];
const own = clientAccess(makeIdentity(id));
const tokenOf = (attempt: number) => ({ identifier: Uint8Array.of(attempt), password: Uint8Array.of(attempt, 7) });

let asked: string[];
/** The attempt whose token the ResourceManager gives; undefined: it gives none. */
let attempt: number | undefined;
/** Why the staging folder cannot be read. */
let unreadable: Error | undefined;
beforeEach(() => {
  [asked, attempt, unreadable] = [[], undefined, undefined];
});

const read = async () => {
  asked.push("file");
  if (unreadable !== undefined) throw unreadable;
  return Buffer.from(JSON.stringify(formatClientAccess(own)));
};
const token = async () => {
  asked.push("token");
  return attempt === undefined ? undefined : tokenOf(attempt);
};

describe("what a client proves itself by", () => {
  test("is what the staging folder has, which all attempts believe and which is read once", async () => {
    const access = new MasterAccess({ read });
    for (const one of [first, second, first]) expect(await access.of(id, one)).toEqual(own);
    expect(asked).toEqual(["file"]);
  });

  test("is on a secure cluster a token of the attempt: of each attempt another one, each asked for once", async () => {
    const access = new MasterAccess({ read, token });
    for (const [number, name] of [
      [1, first],
      [2, second],
    ] as const) {
      attempt = number;
      for (const _ of [1, 2]) expect(await access.of(id, name)).toEqual(tokenAccess(id, tokenOf(number)));
    }
    expect(await access.of(id, first)).toEqual(tokenAccess(id, tokenOf(1)));
    expect(asked).toEqual(["token", "token"]);
  });

  test("is the staging folder's where the ResourceManager gives no token", async () => {
    expect(await new MasterAccess({ read, token }).of(id, first)).toEqual(own);
    expect(asked).toEqual(["token", "file"]);
  });

  test("is what was made for a submission, without a look; of other applications it says nothing", async () => {
    const access = new MasterAccess({ read, token });
    access.remember(own);
    expect(await access.of(id, second)).toEqual(own);
    expect(asked).toEqual([]);
    await access.of("application_1_0002", first);
    expect(asked).toEqual(["token", "file"]);
  });

  test("is looked for again where it was not there", async () => {
    const access = new MasterAccess({ read });
    unreadable = new Error("away");
    expect(await access.of(id, first)).toBeUndefined();
    unreadable = undefined;
    expect(await access.of(id, first)).toEqual(own);
  });
});

describe("why there is none", () => {
  const why = async (problem: Error | undefined) => {
    const access = new MasterAccess({ read });
    unreadable = problem;
    if (problem !== undefined) await access.of(id, first);
    return access.whyNone("ada");
  };
  const failing = (code: FileSystemErrorCode) => new FileSystemError("it said so", { code, operation: "", path: "" });

  test.each<[string, FileSystemErrorCode]>([
    ["HDFS, which has the credentials for reaching it, does not answer", "UNREACHABLE"],
    ["HDFS, which has the credentials for reaching it, does not answer", "TIMEOUT"],
    ["HDFS, which has the credentials for reaching it, does not answer", "CONNECTION_LOST"],
    ["only ada may read its staging folder, which has the credentials for reaching it", "ACCESS_DENIED"],
    ["its staging folder, which has the credentials for reaching it, does not exist", "FILE_NOT_FOUND"],
    ["the credentials for reaching it cannot be read: it said so", "PROTOCOL"],
  ])("is told: %s", async (words, code) => {
    expect(await why(failing(code))).toBe(words);
  });

  test("is told as the last look showed", async () => {
    const access = new MasterAccess({ read });
    for (const code of ["FILE_NOT_FOUND", "UNREACHABLE"] as const) {
      unreadable = failing(code);
      await access.of(id, first);
    }
    expect(access.whyNone("ada")).toBe("HDFS, which has the credentials for reaching it, does not answer");
  });

  test("is not the staging folder's fault where that was never read", async () => {
    expect(await why(undefined)).toBe("the ResourceManager does not say where it is");
  });
});
