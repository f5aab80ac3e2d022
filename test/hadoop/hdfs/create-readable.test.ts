import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { createReadable } from "../../../src/hadoop/hdfs/create-readable.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { Content, CreateOptions, FileStatus, FileSystem } from "../../../src/hadoop/hdfs/file-system.ts";
import { deferred } from "../../support/deferred.ts";

const file = "/journal/1";
const content = Buffer.from("whole");
const denied = new FileSystemError("no", { code: "ACCESS_DENIED", operation: "CREATE", path: file });

/** A file system that closes a file, or refuses to, when it is told; what is seen of the file meanwhile is said by `lengthsBytes`, look by look. */
class SlowToClose implements Pick<FileSystem, "create" | "stat"> {
  readonly close: () => void;
  readonly refuse: () => void;
  readonly #closed: Promise<void>;
  readonly #lengthsBytes: (number | undefined)[];
  readonly created: [path: string, content: Content, options: CreateOptions][] = [];
  looks = 0;

  constructor(lengthsBytes: readonly (number | undefined)[]) {
    this.#lengthsBytes = [...lengthsBytes];
    const { promise, resolve, reject } = deferred();
    this.#closed = promise;
    this.close = resolve;
    this.refuse = () => reject(denied);
  }

  create(...asked: [path: string, content: Content, options: CreateOptions]): Promise<void> {
    this.created.push(asked);
    return this.#closed;
  }

  async stat(): Promise<FileStatus> {
    this.looks += 1;
    const lengthBytes = this.#lengthsBytes.length > 1 ? this.#lengthsBytes.shift() : this.#lengthsBytes[0];
    if (lengthBytes === undefined) throw denied;
    return { ...aFile, lengthBytes };
  }
}

const aFile: FileStatus = {
  path: file,
  type: "FILE",
  lengthBytes: 0,
  modificationTimeMs: 0,
  accessTimeMs: 0,
  permission: 0o600,
  owner: "ada",
  group: "users",
};

describe("a file that can be read before its writer is told that it is closed", () => {
  test("is there when all of it is seen, and is closed later", async () => {
    const fileSystem = new SlowToClose([undefined, 0, content.length]);
    let closed = false;

    const readable = await createReadable(fileSystem, file, content, 0o640);
    const closing = readable.closed.then(() => {
      closed = true;
    });
    // It did not exist, so a try whose answer was lost may be repeated blindly.
    expect(fileSystem.created).toEqual([[file, content, { permission: 0o640, overwrite: true }]]);
    expect(fileSystem.looks).toBe(3);
    expect(closed).toBe(false);

    fileSystem.close();
    await closing;
  });

  test("is there when it is closed, whatever is seen of it", async () => {
    const fileSystem = new SlowToClose([undefined]);
    const creating = createReadable(fileSystem, file, content, 0o600);
    fileSystem.close();

    await (await creating).closed;
    expect(fileSystem.looks).toBe(0);
  });

  test("is not there when it is refused", async () => {
    const fileSystem = new SlowToClose([0]);
    const creating = createReadable(fileSystem, file, content, 0o600);
    fileSystem.refuse();

    await expect(creating).rejects.toBe(denied);
  });

  test("is looked for no longer once it is closed", async () => {
    const fileSystem = new SlowToClose([0]);
    const creating = createReadable(fileSystem, file, content, 0o600);
    await setTimeout(40);
    fileSystem.close();

    await (await creating).closed;
    const { looks } = fileSystem;
    await setTimeout(100);
    expect(looks).toBeGreaterThan(0);
    expect(fileSystem.looks).toBe(looks);
  });

  test("stays there when closing it fails afterwards", async () => {
    const fileSystem = new SlowToClose([content.length]);
    const { closed } = await createReadable(fileSystem, file, content, 0o600);
    fileSystem.refuse();

    await expect(closed).resolves.toBeUndefined();
  });
});
