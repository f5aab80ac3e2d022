import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Content, CreateOptions, FileStatus } from "../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";

/** A container's working directory and a file system beside it. */
export class CarrierScene {
  readonly folder = mkdtempSync(path.join(tmpdir(), "carrier-"));
  readonly workFolder = path.join(this.folder, "container");
  readonly stays = path.join(this.folder, "stays");

  constructor() {
    mkdirSync(this.workFolder);
    mkdirSync(this.stays);
  }

  /** Writes files below the working directory; gives the path of the last. */
  write(files: Readonly<Record<string, string>>): string {
    let last = this.workFolder;
    for (const [name, content] of Object.entries(files)) {
      last = path.join(this.workFolder, name);
      mkdirSync(path.dirname(last), { recursive: true });
      writeFileSync(last, content);
    }
    return last;
  }

  /** The content of every file below a folder, by its path in it. */
  read(folder: string): Record<string, string> {
    const names = readdirSync(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    return Object.fromEntries(files.map((file) => [path.relative(folder, file), readFileSync(file, "utf8")]));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** A process that dies: from one of its calls on, nothing of it reaches the file system. */
export class DyingFileSystem extends LocalFileSystem {
  calls = 0;
  readonly #diesAt: number;
  readonly #afterwards: boolean;

  /** @param diesAt the call, from 1, at which it dies; @param afterwards that call is still carried out */
  constructor(diesAt: number, afterwards: boolean) {
    super();
    this.#diesAt = diesAt;
    this.#afterwards = afterwards;
  }

  override mkdirs(target: string, permission: number): Promise<void> {
    return this.#mortal(() => super.mkdirs(target, permission));
  }

  override delete(target: string, options: { readonly recursive?: boolean } = {}): Promise<boolean> {
    return this.#mortal(() => super.delete(target, options));
  }

  override rename(from: string, to: string): Promise<boolean> {
    return this.#mortal(() => super.rename(from, to));
  }

  override list(target: string): Promise<FileStatus[]> {
    return this.#mortal(() => super.list(target));
  }

  /** Dies with a part of the bytes written. */
  override create(target: string, content: Content, options: CreateOptions): Promise<void> {
    return this.#mortal(
      () => super.create(target, content, options),
      () => super.create(target, Buffer.from("ha"), options),
    );
  }

  async #mortal<Result>(
    call: () => Promise<Result>,
    dying: () => Promise<void> = async () => undefined,
  ): Promise<Result> {
    this.calls += 1;
    if (this.calls === this.#diesAt && !this.#afterwards) await dying();
    if (this.calls > this.#diesAt || (this.calls === this.#diesAt && !this.#afterwards)) throw new Error("dead");
    const result = await call();
    if (this.calls === this.#diesAt) throw new Error("dead");
    return result;
  }
}

/** Somebody else removes, or cuts, a file while another one is uploaded: the first so many times. */
export class CleanedFileSystem extends LocalFileSystem {
  times: number;
  readonly #spoil: (folder: string) => void;

  constructor(times: number, spoil: (folder: string) => void) {
    super();
    this.times = times;
    this.#spoil = spoil;
  }

  override async create(target: string, content: Content, options: CreateOptions): Promise<void> {
    await super.create(target, content, options);
    if (path.basename(target) !== "last" || this.times === 0) return;
    this.times -= 1;
    this.#spoil(path.dirname(target));
  }
}
