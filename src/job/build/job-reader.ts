import { posix } from "node:path";
import { errorMessage } from "../../hadoop/errors.ts";
import type { SpecSection } from "../keys/key.ts";
import { readSection } from "../keys/section.ts";
import { type KeyName, type KeyParameters, type KeyValue, keyFor, keys, type SectionOf } from "../keys.ts";
import type { Problem } from "../problem.ts";
import type { Settings } from "../settings.ts";
import type { FileToShip } from "../spec.ts";
import { readSetting } from "./read-settings.ts";
import { hasScheme, type LookUpPath, locate, parseResourceString, shippable } from "./resource-strings.ts";

export interface ReaderContext {
  readonly workingDirectory: string;
  readonly lookUp: LookUpPath;
  /** The places of keys without a value in the job's file; they set nothing. */
  readonly empty?: ReadonlyMap<string, string>;
}

/** Reads typed values of a job's settings and collects their problems, each with its place. */
export class JobReader {
  readonly settings: Settings;
  readonly problems: Problem[] = [];
  /** Finds out what exists at a local path. */
  readonly lookUp: LookUpPath;
  readonly #workingDirectory: string;
  readonly #empty: ReadonlyMap<string, string>;

  constructor(settings: Settings, { workingDirectory, lookUp, empty = new Map() }: ReaderContext) {
    this.settings = settings;
    this.#workingDirectory = workingDirectory;
    this.lookUp = lookUp;
    this.#empty = empty;
  }

  read<K extends KeyName>(name: K, parameters?: KeyParameters): KeyValue<K> {
    return readSetting(this.settings, name, parameters);
  }

  /** The fields of a section of JobSpec that are the value of one key each. */
  section<S extends SpecSection>(name: S, parameters?: KeyParameters): SectionOf<S> {
    return readSection(keys, name, (key) => this.read(key, parameters));
  }

  /** Whether the key was set. */
  has(name: KeyName, parameters?: KeyParameters): boolean {
    return this.settings.has(keyFor(name, parameters));
  }

  /** Whether the key is present without text, or with blanks only. */
  isEmpty(key: string): boolean {
    const setting = this.settings.get(key);
    return setting === undefined ? this.#empty.has(key) : setting.value.trim() === "";
  }

  error(key: string, message: string): void {
    this.#report("error", key, message);
  }

  warn(key: string, message: string): void {
    this.#report("warning", key, message);
  }

  #report(severity: Problem["severity"], key: string, message: string): void {
    const at = this.settings.get(key)?.at ?? this.#empty.get(key);
    const problem = { severity, message: `${key} ${message}`, key, ...(at === undefined ? {} : { at }) };
    if (!this.problems.some((before) => before.key === key && before.message === problem.message)) {
      this.problems.push(problem);
    }
  }

  /** The files that a list key names; an unreadable one is an error and left out. */
  filesToShip(
    name: "tony.containers.resources" | "tony.am.resources" | "tony.{role}.resources",
    parameters?: KeyParameters,
  ): FileToShip[] {
    const key = keyFor(name, parameters);
    return (this.read(name, parameters) ?? []).flatMap((text) =>
      this.#attempt(key, () => parseResourceString(text, { folders: this.#foldersOf(key), lookUp: this.lookUp })),
    );
  }

  /** The archive that a key names in MapReduce's form: `URL#name`. */
  archive(name: "tony.application.hadoop.location", defaultName: string): FileToShip[] {
    const [source = "", own] = (this.read(name) ?? "").split("#");
    if (source === "") return [];
    const written = `${source}::${own ?? defaultName}#archive`;
    const places = { folders: this.#foldersOf(name), lookUp: this.lookUp };
    return this.#attempt(name, () => parseResourceString(written, places));
  }

  /** A file that an option names, with an absolute local source. */
  shipped(file: FileToShip, option: string): FileToShip[] {
    try {
      if (hasScheme(file.source)) return [shippable(file)];
      const { source, kind } = locate(file.source, { folders: [this.#workingDirectory], lookUp: this.lookUp });
      return [shippable({ ...file, source }, kind)];
    } catch (error) {
      this.problems.push({ severity: "error", message: errorMessage(error), at: option });
      return [];
    }
  }

  /** The absolute path of a local file that the key's text names by a relative path; undefined when it does not exist. */
  localFile(key: string, path: string): string | undefined {
    const candidates = this.#foldersOf(key).map((folder) => posix.join(folder, path));
    return candidates.find((candidate) => this.lookUp(candidate) === "file");
  }

  #attempt<T>(key: string, read: () => T): T[] {
    try {
      return [read()];
    } catch (error) {
      this.error(key, `: ${errorMessage(error)}`.replace(/^: /, "names what cannot be used: "));
      return [];
    }
  }

  /** A path in a file is relative to that file's folder; failing that, and on the command line, to the working directory. */
  #foldersOf(key: string): string[] {
    const setting = this.settings.get(key);
    const files = [setting, ...(setting?.overrides ?? [])].flatMap((made) => made?.file ?? []);
    const folders = files.map((file) => posix.resolve(this.#workingDirectory, posix.dirname(file)));
    return [...folders, this.#workingDirectory];
  }
}
