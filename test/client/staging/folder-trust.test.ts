import { describe, expect, test } from "@jest/globals";
import { firstDistrusted, isOpenToAll, requireTrustedFolders } from "../../../client/staging/folder-trust.ts";
import type { FileStatus } from "../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";

const status = (path: string, owner: string, permission: number, type: FileStatus["type"] = "DIRECTORY") => ({
  path,
  owner,
  permission,
  type,
  group: "ml",
  lengthBytes: 0,
  modificationTimeMs: 0,
  accessTimeMs: 0,
});
const above = [status("/c/sha256/h", "ada", 0o755), status("/c", "hdfs", 0o1777), status("/", "hdfs", 0o755)];
const ada = { user: "ada", trustedOwners: [] };

describe("a file of the cache, and the folders above it", () => {
  const entryOf = (owner: string) => [status("/c/sha256/h/node", owner, 0o755, "FILE"), ...above];

  test.each([
    ["the user's own", "ada", []],
    ["the superuser's", "hdfs", []],
    ["those of users who are named", "ops", ["ops"]],
  ])("are trusted when they are %s", (_, owner, trustedOwners) => {
    expect(firstDistrusted(entryOf(owner), { user: "ada", trustedOwners })).toBeUndefined();
  });

  test("are not when they belong to somebody else", () => {
    expect(firstDistrusted(entryOf("mallory"), ada)).toMatchObject({
      code: "OWNER_NOT_TRUSTED",
      why: expect.stringContaining("belongs to mallory"),
      remedy: "name that user in tony.cache.trusted-owners",
    });
  });

  test.each([
    ["everybody", 0o777, "DIRECTORY", "chmod go-w"],
    ["everybody", 0o666, "FILE", "chmod go-w"],
    ["everybody", 0o1666, "FILE", "chmod go-w"],
    // Of a folder with an access control list these are the mask's: what users and groups of the list have at most.
    ["group ml", 0o775, "DIRECTORY", "chmod g-w"],
    ["group ml", 0o660, "FILE", "chmod g-w"],
  ] as const)("are not when %s may write there (%o, %s)", (who, permission, type, remedy) => {
    const found = firstDistrusted([status("/c/x", "ada", permission, type), ...above], ada);
    expect(found).toMatchObject({ code: "OPEN_TO_OTHERS", status: { path: "/c/x" } });
    expect(found?.why).toContain(`can be changed by ${who}`);
    expect(found?.remedy).toContain(remedy);
    expect(found?.remedy.includes("or +t")).toBe(type === "DIRECTORY");
  });

  test("are trusted in a folder with a sticky bit, where each can remove only what is his own", () => {
    expect(firstDistrusted([status("/c/x", "ada", 0o1770), ...above], ada)).toBeUndefined();
  });
});

test("a staging root in whose place others could put another one is refused with what mends it", async () => {
  class Shared extends LocalFileSystem {
    override async stat(path: string): Promise<FileStatus> {
      return path === "/" ? status(path, "hdfs", 0o755) : status(path, "ada", path === "/user/ada" ? 0o775 : 0o711);
    }
  }
  const root = { fileSystem: new Shared(), path: "/user/ada/.tony-ts" };
  await expect(requireTrustedFolders(root, ada)).rejects.toMatchObject({
    code: "STAGING_OPEN_TO_OTHERS",
    exitCode: 3,
    message: expect.stringMatching(/\/user\/ada can be changed by group ml.*chmod g-w.*tony\.staging-dir/),
  });
  await expect(requireTrustedFolders({ ...root, path: "/.tony-ts" }, ada)).resolves.toBeUndefined();
});

test("where names are believed, a folder that others may change is warned of, and one of somebody else is refused", async () => {
  const folders: Record<string, FileStatus> = {
    "/user/ada/.tony-ts": status("/user/ada/.tony-ts", "ada", 0o700),
    "/user/ada": status("/user/ada", "ada", 0o770),
    "/user": status("/user", "hdfs", 0o755),
    "/": status("/", "hdfs", 0o755),
  };
  const stat = async (path: string) => folders[path] ?? status(path, "mallory", 0o700);
  const fileSystem = Object.assign(new LocalFileSystem(), { stat });
  const believing = { ...ada, believesNames: true };
  expect(await requireTrustedFolders({ fileSystem, path: "/user/ada/.tony-ts" }, believing)).toMatch(
    /^file:\/\/\/user\/ada can be changed by group ml \(permissions 770\).* set tony\.staging-dir to a folder of yours .*\/tmp\/ada$/,
  );
  await expect(requireTrustedFolders({ fileSystem, path: "/user/ada/theirs" }, believing)).rejects.toMatchObject({
    code: "STAGING_OWNER_NOT_TRUSTED",
  });
});

test("nodes keep one copy for all users of what everybody may read and reach", () => {
  const file = status("/c/x", "ada", 0o644, "FILE");
  expect(isOpenToAll(file, above)).toBe(true);
  expect(isOpenToAll(file, [status("/c", "ada", 0o711), ...above])).toBe(true);
  for (const permission of [0o640, 0o641]) expect(isOpenToAll({ ...file, permission }, above)).toBe(false);
  expect(isOpenToAll(file, [status("/c", "ada", 0o700), ...above])).toBe(false);
});
