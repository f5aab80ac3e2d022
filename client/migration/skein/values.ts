import { escapeListItem } from "../../../src/job/keys/types.ts";
import type { SpecField } from "./document.ts";

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

/** `2 GiB` → `2048m`; a bare number is MiB (skein.utils.format_memory, parse_bytes). What cannot be read stays, for the check of the job. */
export function memoryText(text: string): string {
  const [, amount = "", unit = "mib"] = /^\s*([\d.]+)\s*([a-z]+)?\s*$/i.exec(text) ?? [];
  const bytes = Number(amount) * (units.get(unit.toLowerCase()) ?? Number.NaN);
  return amount === "" || Number.isNaN(bytes) ? text : `${Math.ceil(bytes / 2 ** 20)}m`;
}

/** YAML has several words for it. */
export function trueText(text: string | undefined): boolean {
  return /^(true|yes|on)$/i.test(text ?? "");
}

/** YARN's launch script expands variables in values of an environment, as in `PATH: $HOME/bin:$PATH`. */
const isExpanded = ({ text = "" }: SpecField) => /\$/.test(text);

/** The variables that a command has to set itself, because a shell has to expand them: lines in front of it. */
export function exportLines(environment: SpecField | undefined): string {
  const expanded = (environment?.fields ?? []).filter(isExpanded);
  return expanded.map(({ name, text = "" }) => `export ${name}="${text.replaceAll('"', '\\"')}"\n`).join("");
}

/** `NAME=value` of each that needs no shell, as keys of environments have them. */
export function environmentText({ fields: all }: SpecField): string {
  const fields = all.filter((field) => !isExpanded(field));
  return fields.map(({ name, text = "" }) => `${name}=${escapeListItem(text)}`).join(",");
}

/** `target: source`, or `target: {source, type}`, as keys of resources have them; an archive is known by its type or its name. */
export function fileTexts({ fields }: SpecField): string {
  const texts = fields.map(({ name, text, fields: own }) => {
    const given = (field: string) => own.find((one) => one.name === field)?.text;
    const source = (text ?? given("source") ?? "").replace(/^file:\/\//, "");
    const isArchive = /^archive$/i.test(given("type") ?? (/\.(zip|tar\.gz|tgz)$/.test(source) ? "archive" : "file"));
    return escapeListItem(`${source}::${name}${isArchive ? "#archive" : ""}`);
  });
  return texts.join(",");
}

/** `commands` of Skein's earlier releases, which run one after the other until one fails (skein.model.Service). */
export function commandLines({ items }: SpecField): string {
  return ["set -x -e", ...items.flatMap(({ text }) => text ?? [])].join("\n");
}
