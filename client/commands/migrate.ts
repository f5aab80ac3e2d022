import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ExitCode, UserError, usageError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { Migration, MigrationPlace } from "../migration/migrate.ts";
import type { MigratedFile, MigrateJson, MigrationKind } from "../printed-json.ts";

export const migrate = defineCommand({
  verb: "migrate",
  summary: "Convert job files and command lines of TonY and Skein",
  positionals: {
    from: {
      describe:
        "A TonY job file, a script or Azkaban job that runs TonY, a Skein specification, or a folder with any of these",
      required: true,
      missing: "Convert what? Give TonY's job.xml, or a folder",
    },
  },
  options: {
    out: {
      type: "string",
      describe: "The new file, or of a folder the new folder; default: beside the old ones, as job.tony-ts.xml",
    },
    force: { type: "boolean", default: false, describe: "Replace files that are already there" },
    ...jsonOption,
  },
  examples: [
    ["migrate job.xml", "Explain each line, and write job.tony-ts.xml"],
    ["migrate flows", "Convert a whole folder, with its scripts and Azkaban jobs"],
  ],
  run: async ({ from, out, force, json }, { output, workingDirectory }) => {
    const isFolder = statSync(path.resolve(workingDirectory, from)).isDirectory();
    const migrated = await migrations(from, { workingDirectory, out, ...(isFolder && { folder: from }) });
    if (out !== undefined && !isFolder && migrated.filter(({ written }) => written !== undefined).length !== 1)
      throw usageError(`--out is for one new file, and ${from} does not become exactly one`);
    const same = new Set(migrated.filter((file) => isThere(file, workingDirectory)));
    const others = migrated.filter((file) => !same.has(file));
    if (!force) refuseToReplace(others, workingDirectory);
    for (const file of others) write(file, workingDirectory);
    const unchanged = new Set([...same].flatMap(({ written: name }) => name ?? []));
    const files = migrated.map(({ text: _text, encoding: _encoding, ...file }): MigratedFile => file);
    if (json) output.json({ files } satisfies MigrateJson);
    else output.print(files.map((file) => told(file, unchanged)).join("\n"));
    const whole = files.every(({ remarks }) => remarks.every(({ kind }) => kind !== "to-mend"));
    return whole ? ExitCode.succeeded : ExitCode.usage;
  },
});

async function migrations(from: string, where: MigrationPlace): Promise<Migration[]> {
  const [{ migrateFiles, migrateJob }, { encodingOf, textFilesBelow }] = await Promise.all([
    import("../migration/migrate.ts"),
    import("../migration/find-files.ts"),
  ]);
  const place = path.resolve(where.workingDirectory, from);
  const shown = (name: string) => path.join(from, path.relative(place, name));
  const isFolder = where.folder !== undefined;
  const files = isFolder
    ? [...textFilesBelow(place)].map(({ name, text }) => ({ name: shown(name), text }))
    : [{ name: from, text: readFileSync(place, encodingOf(place)) }];
  const [file] = files;
  if (!isFolder && file !== undefined && from.endsWith(".xml")) return [migrateJob(file, where)];
  const found = await migrateFiles(files, where);
  if (found.length > 0) return found;
  throw new UserError(
    `${from} has nothing to convert: no job.xml with TonY's keys, no Azkaban job or flow, no command line, no Skein specification whose services or master have a script`,
    {
      code: "NOTHING_TO_MIGRATE",
    },
  );
}

function refuseToReplace(migrated: readonly Migration[], workingDirectory: string): void {
  const names = migrated.flatMap(({ written: name }) => name ?? []);
  const present = names.filter((name) => existsSync(path.resolve(workingDirectory, name)));
  if (present.length === 0) return;
  const [are, differ] = present.length === 1 ? ["is", "differs"] : ["are", "differ"];
  const message = `${present.join(" and ")} ${are} already there and ${differ} from what would be written: because you changed them, or the old files have changed since`;
  throw new UserError(`${message}. Nothing was written; --force replaces, --out writes elsewhere`, {
    code: "FILE_EXISTS",
  });
}

/** Whether the new file exists already with the content that would be written now. */
function isThere({ written: name, text, encoding = "utf8" }: Migration, workingDirectory: string): boolean {
  if (name === undefined || text === undefined) return false;
  const place = path.resolve(workingDirectory, name);
  return existsSync(place) && statSync(place).isFile() && readFileSync(place, encoding) === text;
}

function write({ source, written: name, text, encoding }: Migration, workingDirectory: string): void {
  if (name === undefined || text === undefined) return;
  const place = path.resolve(workingDirectory, name);
  try {
    mkdirSync(path.dirname(place), { recursive: true });
    // A script must be executable where the old one is.
    const mode = statSync(path.resolve(workingDirectory, source)).mode & 0o777;
    writeFileSync(place, text, { mode, ...(encoding !== undefined && { encoding }) });
  } catch (error) {
    throw new UserError(`${name} cannot be written: ${errorMessage(error)}`, {
      code: "FILE_NOT_WRITTEN",
      cause: error,
    });
  }
}

const words: Readonly<Record<MigrationKind, string>> = {
  stays: "stays",
  changes: "changes",
  "no-meaning": "left out",
  "to-mend": "needs a decision",
};

/** A file's remarks, what was written, and what to type now, or once the open decisions are made. */
function told({ source, written: name, remarks, commands }: MigratedFile, unchanged: ReadonlySet<string>): string {
  const counts = Object.entries(words).flatMap(([kind, word]) => {
    const many = remarks.filter((remark) => remark.kind === kind).length;
    return many === 0 ? [] : [`${word} ${many}`];
  });
  return [
    ...remarks.map(({ at, kind, message }) => `${at}: ${words[kind]}: ${message}`),
    `${name === undefined ? source : `${unchanged.has(name) ? "Unchanged:" : "Wrote"} ${name}`} (${counts.join(", ")})`,
    ...(remarks.some(({ kind }) => kind === "to-mend") && commands.length > 0 ? ["  once that is decided:"] : []),
    ...commands.map(({ command }) => `  ${command}`),
  ].join("\n");
}
