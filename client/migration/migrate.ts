import { existsSync } from "node:fs";
import path from "node:path";
import { ConfigurationError, formatLocation } from "../../src/hadoop/conf/errors.ts";
import { readLocalText } from "../../src/hadoop/conf/xml.ts";
import { shellWords } from "../../src/job/shell-words.ts";
import type { MigratedFile } from "../printed-json.ts";
import { isTonyFlow, migrateFlow } from "./azkaban-job.ts";
import { callsTony, migrateScript } from "./command-lines.ts";
import { encodingOf, type FoundFile } from "./find-files.ts";
import { isJobFile, type MigratedText, migrateJobFile } from "./job-file.ts";

/** Where files are. */
export interface MigrationPlace {
  /** Where the names of files start. */
  readonly workingDirectory: string;
  /** The name of the new file; default beside the old one. */
  readonly out?: string | undefined;
  /** The folder whose files become those of the folder `out`, under their own names. */
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

/** What is nobody's job, but looks like one: a site's own settings, and what was migrated before. */
const notJobs = /(^|\/)tony-(site|default)\.xml$|\.tony-ts\.xml$|\.tony-ts$/;

/**
 * What each of these files becomes; those that have nothing of TonY's are left out. Job files come first: the command lines name them.
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
  const renamed = new Map(
    migrated.flatMap(({ source, written }) => (written === undefined ? [] : [[source, written]])),
  );
  const others = await Promise.all([
    ...flows.map((flow) => migrateFlowFile(flow, place)),
    ...documents.map((document) => migrateFlowDocumentFile(document, place)),
    ...specifications.map((specification) => migrateSpecificationFile(specification, place)),
  ]);
  return [
    ...migrated,
    ...others.filter((found) => found !== undefined),
    ...scripts.map((script) => migrateScriptFile(script, renamed, place)),
    ...candidates.filter(({ name, text }) => name.endsWith(".py") && usesTfYarn.test(text)).map(tfYarnProgram),
  ];
}

/** One TonY job's file, whatever it is called. */
export function migrateJob({ name, text }: FoundFile, place: MigrationPlace): Migration {
  const written = newName(name, name.replace(/(\.xml)?$/, ".tony-ts.xml"), place);
  const readText = (included: string) => readLocalText(path.resolve(place.workingDirectory, included));
  try {
    return withCommand(name, written, migrateJobFile(text, name, readText), `tony-ts submit ${shellWords([written])}`);
  } catch (error) {
    return unreadable(name, error);
  }
}

/** What a person must mend before anything can be said of the file. */
function unreadable(name: string, error: unknown): Migration {
  if (!(error instanceof ConfigurationError)) throw error;
  const at = error.location === undefined ? name : formatLocation(error.location);
  return { source: name, remarks: [{ kind: "to-mend", at, message: error.problem }], commands: [] };
}

/** Azkaban runs every file of a project that ends in .job or .flow: the new one does not until it takes the old one's place. */
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
  const [{ readDocument }, { isSkeinSpecification, migrateSpecification }] = await Promise.all([
    import("./skein/document.ts"),
    import("./skein/specification.ts"),
  ]);
  try {
    const specification = readDocument(text, name);
    if (!isSkeinSpecification(specification)) return undefined;
    const written = newName(name, name.replace(/\.[a-z]+$/, ".tony-ts.xml"), place);
    return withCommand(name, written, migrateSpecification(specification), `tony-ts submit ${shellWords([written])}`);
  } catch (error) {
    return unreadable(name, error);
  }
}

/** Before it is read as YAML, of which most files in a folder are something else. */
function mayBeSkeins(text: string): boolean {
  return /(^|[\s{,])"?(services|master)"?\s*:/.test(text) && /\b(script|commands)"?\s*:/.test(text);
}

const usesTfYarn = /^\s*(from|import) tf_yarn\b/m;

/** A program describes its job by itself, and could do so in any way. */
function tfYarnProgram({ name }: FoundFile): Migration {
  const message =
    "tf-yarn's TaskSpec is Python, which is not read: docs/guide/coming-from-skein.md has the key of each argument";
  return { source: name, remarks: [{ kind: "to-mend", at: name, message }], commands: [] };
}

/** A script stays as it is, unless the new one has a place of its own. Its commands are printed as they are typed where it was run. */
function migrateScriptFile(
  { name, text }: FoundFile,
  renamed: ReadonlyMap<string, string>,
  place: MigrationPlace,
): Migration {
  const folder = path.dirname(name);
  let runsThere = false;
  const migratedFile = (job: string) => {
    const beside = path.isAbsolute(job) ? job : path.join(folder, job);
    const found = renamed.get(beside) ?? tonyXmlBeside(beside, place);
    runsThere ||= found !== undefined;
    return found ?? renamed.get(path.normalize(job));
  };
  const migrated = migrateScript(text, name, migratedFile);
  const written = place.out === undefined ? undefined : newName(name, name, place);
  const start = runsThere ? path.dirname(written ?? name) : ".";
  const commands = migrated.commands.map(({ at, command, folder: gone = "" }) => {
    const where = path.isAbsolute(gone) ? gone : path.join(start, gone);
    return { at, command: where === "." ? command : `cd ${shellWords([where])} && ${command}` };
  });
  const { remarks } = migrated;
  if (written === undefined) return { source: name, remarks, commands };
  return { source: name, written, text: migrated.text, remarks, commands };
}

/** Of a script that is given alone: no other file is migrated with it. */
function tonyXmlBeside(file: string, { workingDirectory, folder }: MigrationPlace): string | undefined {
  const isWanted = folder === undefined && path.basename(file) === "tony.xml";
  return isWanted && existsSync(path.resolve(workingDirectory, file)) ? file : undefined;
}

function withCommand(source: string, written: string, { text, remarks }: MigratedText, command: string): Migration {
  return { source, written, text, encoding: encodingOf(source), remarks, commands: [{ at: written, command }] };
}
