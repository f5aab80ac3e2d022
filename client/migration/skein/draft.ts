import { literalText } from "../../../src/frameworks/generic.ts";
import type { WrittenProperty } from "../../../src/hadoop/conf/write-xml.ts";
import type { MigrationKind, MigrationRemark } from "../../printed-json.ts";
import type { SpecField } from "./document.ts";
import { environmentText, exportLines, fileTexts, memoryText, wholeNumberText } from "./values.ts";

/** Collects settings and remarks, in the order of the document. */
export class Draft {
  readonly settings: WrittenProperty[] = [];
  readonly remarks: MigrationRemark[] = [];

  set(name: string, value: string, from: SpecField, difference?: string): void {
    this.settings.push({ name, value });
    const becomes = `${from.name} becomes ${name}`;
    this.say("changes", difference === undefined ? becomes : `${becomes}: ${difference}`, from);
  }

  say(kind: MigrationKind, message: string, { at }: SpecField): void {
    this.remarks.push({ kind, at, message });
  }
}

/** `memory`, `vcores`, … of a container. */
export function amounts(draft: Draft, role: string, resources: SpecField): void {
  for (const field of resources.fields) {
    const { name, text = "" } = field;
    if (name === "memory") draft.set(`tony.${role}.memory`, memoryText(text), field);
    else if (name === "vcores" || name === "gpus") draft.set(`tony.${role}.${name}`, wholeNumberText(text), field);
    else if (name === "fpgas") draft.set(`tony.${role}.resource.yarn.io/fpga`, wholeNumberText(text), field);
    else draft.say("to-mend", `${name} is not a field of Skein`, field);
  }
}

/** The files of a container: a mapping of names to sources. */
export function files(draft: Draft, key: string, field: SpecField): void {
  if (field.fields.length + field.items.length === 0) return;
  const texts = fileTexts(field);
  if (texts !== undefined) draft.set(key, texts, field);
  else draft.say("to-mend", "files: a list has no names; Skein takes a mapping of names to sources", field);
}

export function environment(draft: Draft, key: string, field: SpecField): void {
  const text = environmentText(field, textFor(key));
  if (text !== "") draft.set(key, text, field);
  const lines = exportLines(field);
  if (lines !== "")
    draft.say(
      "changes",
      `variables with $ are set in front of the command: ${lines.trim().replaceAll("\n", "; ")}`,
      field,
    );
}

/** Commands in the ApplicationMaster's container have no templates. */
function textFor(key: string): (text: string) => string {
  return /^tony\.(am\.command|execution\.envs)$/.test(key) ? (text) => text : literalText;
}

/** A script becomes the command of a role; its calls to Skein itself have nothing to answer them here. */
export function command(
  draft: Draft,
  key: string,
  { text, environment: variables }: { readonly text: string; readonly environment: SpecField | undefined },
  field: SpecField,
): void {
  const whole = exportLines(variables) + text.trim();
  const written = textFor(key)(whole);
  draft.set(key, written, field);
  if (written !== whole) draft.say("changes", "{{…}} in the script is text to Skein: it stays so behind \\", field);
  if (!/\bskein\b|\bSKEIN_/.test(text)) return;
  const found = counterparts.filter(([use]) => use.test(text)).map(([, here]) => here);
  draft.say("to-mend", `the script uses ${found.length > 0 ? found.join("; it uses ") : ADDRESSES}`, field);
}

/** What scripts call Skein for, and the replacement here. */
const counterparts: readonly (readonly [RegExp, string])[] = [
  [
    /\bskein\s+kv\b|\.kv\b/,
    "Skein's key-value store: a job has one, which programs reach by the socket $TONY_API, and people by tony-ts kv",
  ],
  [
    /\bskein\s+application\s+(shutdown|kill)\b|\.shutdown\(/,
    "Skein to end the application: a job ends when its roles have; those in tony.application.untracked.jobtypes are stopped then",
  ],
  [/\bskein\.recipes\b/, "Skein's recipes: tony-ts notebook runs Jupyter in a container"],
];
const ADDRESSES = "Skein: {{spec.<role>}}, {{index}} and {{count}} in it say where the others are";
