import { randomBytes } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";

/** What every FileSystem does alike. `open` returns one, with an empty folder in it for the tests alone. */
export function describeFileSystem(
  name: string,
  open: () => Promise<{ fileSystem: FileSystem; folder: string; dispose: () => Promise<void> }>,
): void {
  describe(`${name} as a file system`, () => {
    let fs: FileSystem;
    let folder: string;
    let dispose: () => Promise<void> = async () => undefined;
    let count = 0;
    const bytes = (content: string) => Buffer.from(content);
    /** A new path for each use. */
    const fresh = (suffix = "") => {
      count += 1;
      return `${folder}/entry-${count}${suffix}`;
    };
    const read = async (path: string) => text(await fs.open(path));

    beforeAll(async () => {
      ({ fileSystem: fs, folder, dispose } = await open());
    });
    afterAll(() => dispose());

    test("a file is read as it was written, with the permission asked for whatever the umask", async () => {
      const path = fresh();
      await fs.create(path, bytes("hello"), { permission: 0o646 });
      expect(await read(path)).toBe("hello");
      const status = await fs.stat(path);
      expect(status).toMatchObject({ path, type: "FILE", lengthBytes: 5, permission: 0o646 });
      expect(Math.abs(Date.now() - status.modificationTimeMs)).toBeLessThan(60_000);
    });

    test("names with spaces, percent signs, plus signs and other scripts stay what they are", async () => {
      for (const suffix of [" a b", "%41", "+x", "ünïcode-数", "a&b=c?d#e", "quote'\"", "a;b"]) {
        const path = fresh(suffix);
        await fs.create(path, bytes(suffix), { permission: 0o600 });
        expect(await read(path)).toBe(suffix);
        expect((await fs.list(path)).map((status) => status.path)).toEqual([path]);
      }
      const listed = (await fs.list(folder)).map((status) => status.path);
      expect(listed).toEqual([...listed].sort());
    });

    test("who may write in a directory is told so, and of one that is not there that it is not", async () => {
      await expect(fs.checkWritable(folder)).resolves.toBeUndefined();
      await expect(fs.checkWritable(fresh())).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    });

    test("an empty file is a file", async () => {
      const path = fresh();
      await fs.create(path, new Uint8Array(), { permission: 0o600 });
      expect(await fs.stat(path)).toMatchObject({ type: "FILE", lengthBytes: 0 });
      expect(await read(path)).toBe("");
    });

    test("streams of known and of unknown length arrive whole and report their progress", async () => {
      const content = randomBytes(3_000_000);
      for (const lengthBytes of [content.length, undefined]) {
        const path = fresh();
        const progress: number[] = [];
        const source = { open: () => Readable.from([content.subarray(0, 7), content.subarray(7)]) };
        await fs.create(path, lengthBytes === undefined ? source : { ...source, lengthBytes }, {
          permission: 0o600,
          onProgress: (sent) => progress.push(sent),
        });
        expect(content.equals(await buffer(await fs.open(path)))).toBe(true);
        expect(progress).toEqual([7, content.length]);
      }
    });

    test("a source that fails fails the write with its reason", async () => {
      const failing = () => {
        const stream = new PassThrough();
        stream.write("some");
        setImmediate(() => stream.destroy(new Error("disk gone")));
        return stream;
      };
      await expect(fs.create(fresh(), { open: failing }, { permission: 0o600 })).rejects.toThrow("disk gone");
    });

    test("an existing file is replaced only when that is asked for", async () => {
      const path = fresh();
      await fs.create(path, bytes("one"), { permission: 0o600 });
      await expect(fs.create(path, bytes("two"), { permission: 0o600 })).rejects.toMatchObject({ code: "FILE_EXISTS" });
      expect(await read(path)).toBe("one");
      await fs.create(path, bytes("three"), { permission: 0o640, overwrite: true });
      expect(await read(path)).toBe("three");
      expect((await fs.stat(path)).permission).toBe(0o640);
    });

    test("append adds to the end, and only to what exists", async () => {
      const path = fresh();
      await fs.create(path, bytes("one,"), { permission: 0o600 });
      await fs.append(path, bytes("two"));
      expect(await read(path)).toBe("one,two");
      await expect(fs.append(fresh(), bytes("x"))).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    });

    test("a part of a file is read by offset and length; beyond the end there is nothing", async () => {
      const path = fresh();
      await fs.create(path, bytes("0123456789"), { permission: 0o600 });
      const part = async (offset: number, lengthBytes?: number) =>
        text(await fs.open(path, lengthBytes === undefined ? { offset } : { offset, lengthBytes }));
      expect(await part(3)).toBe("3456789");
      expect(await part(2, 3)).toBe("234");
      expect(await part(8, 100)).toBe("89");
      expect([await part(10), await part(50), await part(0, 0)]).toEqual(["", "", ""]);
    });

    test("what is not there is FILE_NOT_FOUND, and the message names it", async () => {
      const path = fresh();
      for (const operation of [
        () => fs.stat(path),
        () => fs.open(path),
        () => fs.list(path),
        () => fs.rename(path, fresh()),
        () => fs.setPermission(path, 0o600),
      ]) {
        await expect(operation()).rejects.toMatchObject({
          code: "FILE_NOT_FOUND",
          message: expect.stringContaining(path),
        });
      }
    });

    test("mkdirs makes parents with the permission asked for and leaves what exists as it is", async () => {
      const parent = fresh();
      await fs.mkdirs(`${parent}/child`, 0o750);
      expect(await fs.stat(parent)).toMatchObject({ type: "DIRECTORY", permission: 0o750 });
      await fs.mkdirs(parent, 0o700);
      expect((await fs.stat(parent)).permission).toBe(0o750);
      expect((await fs.list(parent)).map((status) => [status.path, status.type])).toEqual([
        [`${parent}/child`, "DIRECTORY"],
      ]);
    });

    test("a directory cannot be made where a file is", async () => {
      const path = fresh();
      await fs.create(path, bytes("x"), { permission: 0o600 });
      await expect(fs.mkdirs(path, 0o700)).rejects.toMatchObject({ code: "FILE_EXISTS" });
      await expect(fs.mkdirs(`${path}/below`, 0o700)).rejects.toMatchObject({ code: "NOT_A_DIRECTORY" });
    });

    test("delete says whether there was anything, and empties directories only when asked to", async () => {
      const directory = fresh();
      await fs.create(`${directory}/file`, bytes("x"), { permission: 0o600 });
      await expect(fs.delete(directory)).rejects.toMatchObject({ code: "DIRECTORY_NOT_EMPTY" });
      expect(await fs.delete(directory, { recursive: true })).toBe(true);
      expect(await fs.delete(directory, { recursive: true })).toBe(false);
    });

    test("rename moves files and directories to the full new name", async () => {
      const from = fresh();
      const to = fresh();
      await fs.create(from, bytes("moved"), { permission: 0o600 });
      expect(await fs.rename(from, to)).toBe(true);
      expect(await read(to)).toBe("moved");
      const directory = fresh();
      await fs.mkdirs(directory, 0o700);
      const moved = fresh();
      expect(await fs.rename(directory, moved)).toBe(true);
      expect((await fs.stat(moved)).type).toBe("DIRECTORY");
    });

    test("rename onto an existing name is false and changes nothing, a directory included", async () => {
      const from = fresh();
      const to = fresh();
      const directory = fresh();
      await fs.create(from, bytes("from"), { permission: 0o600 });
      await fs.create(to, bytes("to"), { permission: 0o600 });
      await fs.mkdirs(directory, 0o700);
      const other = fresh();
      await fs.mkdirs(other, 0o700);
      expect([await fs.rename(from, to), await fs.rename(from, directory)]).toEqual([false, false]);
      expect(await fs.rename(other, directory)).toBe(false);
      expect([await read(from), await read(to), await fs.list(directory)]).toEqual(["from", "to", []]);
      expect(await fs.rename(from, to, { overwrite: true })).toBe(true);
      expect(await read(to)).toBe("from");
    });

    test("rename into a folder that is not there is FILE_NOT_FOUND", async () => {
      const from = fresh();
      await fs.create(from, bytes("x"), { permission: 0o600 });
      await expect(fs.rename(from, `${fresh()}/x`)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    });

    test("permissions and times are set as given", async () => {
      const path = fresh();
      await fs.create(path, bytes("x"), { permission: 0o600 });
      await fs.setPermission(path, 0o755);
      await fs.setTimes(path, { modificationTimeMs: 1_700_000_000_123 });
      await fs.setReplication(path, 2);
      expect(await fs.stat(path)).toMatchObject({ permission: 0o755, modificationTimeMs: 1_700_000_000_123 });
    });

    test("paths that are not plain are refused before anything is asked", async () => {
      for (const path of ["relative", "/a/../b", "/a//b", "/a/./b"]) {
        await expect(fs.stat(path)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      }
    });

    test("a reader that leaves early ends the transfer without harm", async () => {
      const path = fresh();
      await fs.create(path, randomBytes(2_000_000), { permission: 0o600 });
      for await (const chunk of await fs.open(path)) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      expect((await fs.stat(path)).lengthBytes).toBe(2_000_000);
    });
  });
}
