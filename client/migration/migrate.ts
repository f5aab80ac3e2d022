import { existsSync } from "node:fs";
import path from "node:path";
import { ConfigurationError, formatLocation } from "../../src/hadoop/conf/errors.ts";
import { readLocalText } from "../../src/hadoop/conf/xml.ts";
import { shellWords } from "../../src/job/shell-words.ts";
import type { MigratedFile, MigrationRemark } from "../printed-json.ts";
import { isTonyFlow, migrateFlow } from "./azkaban-job.ts";
import { callsTony, type FindNewFile, migrateScript } from "./command-lines.ts";
import { encodingOf, type FoundFile } from "./find-files.ts";
import { isJobFile, type MigratedText, migrateJobFile } from "./job-file.ts";

/** Where files are read and written. */
export interface MigrationPlace {
  /** The folder that file names are relative to. */
  readonly workingDirectory: string;
  /** The name of the new file; default: next to the old one. */
  readonly out?: string | undefined;
  /** The folder whose files are migrated into the folder `out`, under their own names. */
  readonly folder?: string | undefined;
}

function newName(source: string, beside: string, { out, folder }: MigrationPlace): string {
  if (out === undefined || folder === undefined) return out ?? beside;
  return path.join(out, path.relative(folder, source)).replace(/\.(ya?ml|json)$/, ".xml");
}

/** What a file becomes, and the text to write. */
export interface Migration extends MigratedFile {
  readonly text?: string;
  readonly encoding?: "latin1" | "utf8";
}

/** Files that look like jobs but are not: a site's own settings, and files that were migrated before. */
const notJobs = /(^|\/)tony-(site|default)\.xml$|\.tony-ts\.xml$|\.tony-ts$/;

/**
 * Migrates these files; leaves out those that have nothing to do with TonY. Job files come first, because command lines name them.
 * @param files by the names that people are shown
 */
export async function migrateFiles(files: readonly FoundFile[], place: MigrationPlace): Promise<Migration[]> {
  const candidates = files.filter(({ name }) => !notJobs.test(name));
  const jobs = candidates.filter(({ name, text }) => name.endsWith(".xml") && isJobFile(text));
  const flows = candidates.filter(({ name }) => /\.(job|properties)$/.test(name));
  const documents = candidates.filter(({ name }) => name.endsWith(".flow"));
  const scripts = candidates.filter(({ text }) => callsTony(text));
  const specifications = candidates.filter(({ name, text }) => /\.(ya?ml|json)$/.test(name) && mayBeSkeins(text));
  const migrated = jobs.map((job) => migrateJob(job, place));
  const whole = (name: string) => path.resolve(place.workingDirectory, name);
  const renamed = new Map(
    migrated.flatMap(({ source, written }) => (written === undefined ? [] : [[whole(source), written]])),
  );
  const run = new Set<string>();
  const scriptsMigrated = scripts.map((script) => migrateScriptFile(script, { renamed, run }, place));
  const others = await Promise.all([
    ...flows.map((flow) => migrateFlowFile(flow, place)),
    ...documents.map((document) => migrateFlowDocumentFile(document, place)),
    ...specifications.map((specification) => migrateSpecificationFile(specification, place)),
  ]);
  return [
    ...migrated.map((job) => (run.has(whole(job.source)) ? withoutCommand(job) : job)),
    ...others.filter((found) => found !== undefined),
    ...scriptsMigrated,
    ...candidates.filter(({ name, text }) => name.endsWith(".py") && usesTfYarn.test(text)).map(tfYarnProgram),
  ];
}

/** Migrates one TonY job's file, whatever its name. */
export function migrateJob({ name, text }: FoundFile, place: MigrationPlace): Migration {
  const written = newName(name, besideJob(name), place);
  const readText = (included: string) => readLocalText(path.resolve(place.workingDirectory, included));
  try {
    const migrated = migrateJobFile(text, name, readText);
    const job = withCommand(name, written, migrated, submitCommand(name, written));
    if (migrated.hasCommand) return job;
    const remark = { kind: "stays", at: name, message: PROGRAM_ELSEWHERE } as const;
    return { ...job, remarks: [...job.remarks, remark], commands: [] };
  } catch (error) {
    return unreadable(name, error);
  }
}

/** The remark on a file that a person has to repair before it can be migrated. */
function unreadable(name: string, error: unknown): Migration {
  if (!(error instanceof ConfigurationError)) throw error;
  const at = error.location === undefined ? name : formatLocation(error.location);
  return { source: name, remarks: [{ kind: "to-mend", at, message: error.problem }], commands: [] };
}

/** Azkaban runs every file of a project that ends in .job or .flow: the new file has another ending until it replaces the old one. */
function besideFlow(name: string, place: MigrationPlace, text: MigratedText): Migration {
  const written = newName(name, `${name}.tony-ts`, place);
  if (place.folder !== undefined && place.out !== undefined)
    return { ...withCommand(name, written, text, ""), commands: [] };
  return withCommand(name, written, text, `mv ${shellWords([written, name])}`);
}

async function migrateFlowDocumentFile(
  { name, text }: FoundFile,
  place: MigrationPlace,
): Promise<Migration | undefined> {
  const { migrateFlowDocument } = await import("./azkaban-flow.ts");
  try {
    const migrated = migrateFlowDocument(text, name);
    return migrated === undefined ? undefined : besideFlow(name, place, migrated);
  } catch (error) {
    return unreadable(name, error);
  }
}

async function migrateFlowFile({ name, text }: FoundFile, place: MigrationPlace): Promise<Migration | undefined> {
  const { Properties } = await import("properties-file/parser");
  const properties = new Properties(text);
  if (!isTonyFlow(properties)) return undefined;
  return besideFlow(name, place, migrateFlow(properties, name));
}

async function migrateSpecificationFile(
  { name, text }: FoundFile,
  place: MigrationPlace,
): Promise<Migration | undefined> {
  const [{ readDocument }, { findSpecification, migrateSpecification }] = await Promise.all([
    import("./skein/document.ts"),
    import("./skein/specification.ts"),
  ]);
  try {
    const specification = findSpecification(readDocument(text, name));
    if (specification === undefined) return undefined;
    const written = newName(name, name.replace(/\.[a-z]+$/, ".tony-ts.xml"), place);
    return withCommand(name, written, migrateSpecification(specification), submitCommand(name, written));
  } catch (error) {
    return unreadable(name, error);
  }
}

/** Checked before the file is parsed as YAML: most files in a folder are something else. */
function mayBeSkeins(text: string): boolean {
  return /(^|[\s{,])"?(services|master)"?\s*:/.test(text) && /\b(script|commands)"?\s*:/.test(text);
}

const usesTfYarn = /^\s*(from|import) tf_yarn\b/m;

/** A program describes its job in code, in ways that cannot be read. */
function tfYarnProgram({ name }: FoundFile): Migration {
  const message =
    "tf-yarn's TaskSpec is Python, which tony-ts does not parse: the package tony_ts runs such programs, and docs/guide/coming-from-tf-yarn.md has the key of each argument";
  return { source: name, remarks: [{ kind: "to-mend", at: name, message }], commands: [] };
}

/** Job files by their absolute paths, for the command lines that name them. */
interface JobFiles {
  /** The new files, by the paths of the old ones. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Collects the old files that a command line names. */
  readonly run: Set<string>;
}

/**
 * A script stays unchanged unless its new version has a place of its own. Its commands are printed as they would be typed where the script
 * was run.
 */
function migrateScriptFile({ name, text }: FoundFile, { renamed, run }: JobFiles, place: MigrationPlace): Migration {
  // Where people run it: its own folder, the one where they run this command, or the folder that they name.
  const folders = [path.dirname(name), ".", place.folder ?? "."];
  let start = ".";
  const find: FindNewFile = (job, gone) => {
    for (const folder of folders) {
      const given = path.isAbsolute(job) ? job : path.join(whereIs(folder, gone), job);
      const old = path.resolve(place.workingDirectory, given);
      const found = renamed.get(old) ?? (folder === folders[0] ? newFileBeside(given, place) : undefined);
      if (found === undefined) continue;
      start = folder;
      run.add(old);
      return { path: found, isElsewhere: false };
    }
    return undefined;
  };
  const migrated = migrateScript(text, name, find);
  const { remarks } = migrated;
  const written = place.out === undefined ? undefined : newName(name, name, place);
  // Sources and data stay where they are: a new file in another folder is named relative to them.
  const findFromThere: FindNewFile = (job, gone) => {
    const found = find(job, gone);
    if (found === undefined || place.folder === undefined) return found;
    const absolute = path.resolve(place.workingDirectory, found.path);
    const from = path.resolve(place.workingDirectory, whereIs(start, gone));
    return { path: path.relative(from, absolute), isElsewhere: true };
  };
  const typed = written === undefined ? migrated : migrateScript(text, name, findFromThere);
  const commands = typed.commands.map(({ at, command, folder: gone = "", before = "" }) => {
    return { at, command: typedIn(whereIs(start, gone), before + command) };
  });
  if (written !== undefined) return { source: name, written, text: migrated.text, remarks, commands };
  const needs = migrated.commands.flatMap(({ at, needs: variables = [] }): MigrationRemark[] => {
    if (variables.length === 0) return [];
    const message = `the script sets ${variables.join(", ")} for the command: run it in the script, which --out FILE writes`;
    return [{ kind: "to-mend", at, message }];
  });
  return { source: name, remarks: [...remarks, ...needs], commands };
}

const whereIs = (folder: string, gone: string) => (path.isAbsolute(gone) ? gone : path.join(folder, gone));

function typedIn(folder: string, command: string): string {
  return folder === "." ? command : `cd ${shellWords([folder])} && ${command}`;
}

/** For a script that is migrated alone, without the files that it names: a file that was written before, or `tony.xml`, which TonY finds. */
function newFileBeside(file: string, { workingDirectory, folder }: MigrationPlace): string | undefined {
  if (folder !== undefined) return undefined;
  const isThere = (name: string) => existsSync(path.resolve(workingDirectory, name));
  const written = besideJob(file);
  if (isThere(written)) return written;
  return path.basename(file) === "tony.xml" && isThere(file) ? file : undefined;
}

const besideJob = (name: string) => name.replace(/(\.xml)?$/, ".tony-ts.xml");

/** The command that submits a new job's file: from the old one's folder, where the files that it names are found. */
function submitCommand(source: string, written: string): string {
  const folder = path.dirname(source);
  const stays = path.dirname(written) === folder;
  return stays
    ? `tony-ts submit ${shellWords([written])}`
    : typedIn(folder, `tony-ts submit ${shellWords([path.relative(folder, written)])}`);
}

function withCommand(source: string, written: string, { text, remarks }: MigratedText, command: string): Migration {
  return { source, written, text, encoding: encodingOf(source), remarks, commands: [{ at: written, command }] };
}

/** The command line that names the file is the command to type, and has the program, too. */
function withoutCommand(job: Migration): Migration {
  return { ...job, remarks: job.remarks.filter(({ message }) => message !== PROGRAM_ELSEWHERE), commands: [] };
}

const PROGRAM_ELSEWHERE =
  "it has no command: TonY's command line names the program, by -executes. Give tony-ts migrate the script or the folder with it, and it prints the whole command";
