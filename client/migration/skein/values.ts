import { escapeListItem } from "../../../src/job/keys/types.ts";
import type { SpecField, SpecValue } from "./document.ts";

const units: ReadonlyMap<string, number> = new Map([
  ["b", 1],
  ["kb", 1e3],
  ["mb", 1e6],
  ["gb", 1e9],
  ["tb", 1e12],
  ["pb", 1e15],
  ["kib", 2 ** 10],
  ["mib", 2 ** 20],
  ["gib", 2 ** 30],
  ["tib", 2 ** 40],
  ["pib", 2 ** 50],
]);

/** `2 GiB` → `2048m`; a bare number is MiB (skein.utils.format_memory, parse_bytes). Text that cannot be parsed stays, for the check of the job. */
export function memoryText(text: string): string {
  const [, amount = "", unit = "mib"] = /^\s*([\d._]+(?:e\d+)?)\s*([a-z]+)?\s*$/i.exec(text) ?? [];
  const name = unit.toLowerCase();
  const bytes = Number(amount.replaceAll("_", "")) * (units.get(name) ?? units.get(`${name}b`) ?? Number.NaN);
  return amount === "" || Number.isNaN(bytes) ? text : `${Math.ceil(bytes / 2 ** 20)}m`;
}

/** A whole number in the forms of YAML 1.1 and Python: `2_048`, `1.0`. */
export function wholeNumberText(text: string): string {
  return /^\d[\d_]*(\.0+)?$/.test(text) ? String(Number(text.replaceAll("_", ""))) : text;
}

/** YAML has several words for true. */
export function trueText(text: string | undefined): boolean {
  return /^(true|yes|on)$/i.test(text ?? "");
}

/** YARN's launch script expands variables in values of an environment, as in `PATH: $HOME/bin:$PATH`. */
const isExpanded = ({ text = "" }: SpecField) => /\$/.test(text);

/** The variables that a command has to set itself, because a shell has to expand them: lines in front of the command. */
export function exportLines(environment: SpecField | undefined): string {
  const expanded = (environment?.fields ?? []).filter(isExpanded);
  return expanded.map(({ name, text = "" }) => `export ${name}="${text.replaceAll('"', '\\"')}"\n`).join("");
}

/** `NAME=value` for each variable that needs no shell, in the format of the environment keys. */
export function environmentText({ fields: all }: SpecField, written: (value: string) => string): string {
  const fields = all.filter((field) => !isExpanded(field));
  return fields.map(({ name, text = "" }) => `${name}=${escapeListItem(written(text))}`).join(",");
}

/** A container's files in the format of the resources keys; undefined: neither a mapping nor a list of files that Skein accepts. */
export function fileTexts({ fields, items }: SpecField): string | undefined {
  const named = [...fields.map((file) => fileText(file.name, file)), ...items.map(listedFile)];
  return named.includes(undefined) ? undefined : named.join(",");
}

const archiveName = /\.(zip|tar\.gz|tgz)$/;
const fieldText = ({ fields }: SpecValue, name: string) => fields.find((one) => one.name === name)?.text;

/** `target: source`, or `target: {source, type}`; an archive is recognised by its type or its name. */
function fileText(target: string, file: SpecValue): string {
  const source = (file.text ?? fieldText(file, "source") ?? "").replace(/^file:\/\//, "");
  const isArchive = /^archive$/i.test(fieldText(file, "type") ?? (archiveName.test(source) ? "archive" : "file"));
  return escapeListItem(`${source}::${target}${isArchive ? "#archive" : ""}`);
}

/** `- file: source` or `- archive: source` with `dest`, as in Skein 0.0.2: an archive without `dest` loses its extension. */
function listedFile(item: SpecValue): string | undefined {
  const archive = fieldText(item, "archive");
  const source = archive ?? fieldText(item, "file");
  if (source === undefined) return undefined;
  const name = source.replace(/^.*\//, "");
  const target = fieldText(item, "dest") ?? (archive === undefined ? name : name.replace(archiveName, ""));
  return escapeListItem(`${source.replace(/^file:\/\//, "")}::${target}${archive === undefined ? "" : "#archive"}`);
}

/** A script, or `commands` of Skein before 0.6, which run one after the other until one fails (skein.model.Service). */
export function scriptText({ name, text = "", items }: SpecField): string {
  return name === "script" ? text : ["set -x -e", ...items.flatMap((item) => item.text ?? [])].join("\n");
}
