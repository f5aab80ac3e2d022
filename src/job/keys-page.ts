import { amKeys } from "./keys/am.ts";
import { applicationKeys } from "./keys/application.ts";
import { carrierKeys } from "./keys/carrier.ts";
import { costKeys } from "./keys/cost.ts";
import { failureKeys } from "./keys/failure.ts";
import { feedKeys } from "./keys/feed.ts";
import { imageKeys } from "./keys/image.ts";
import type { KeyDefinition, KeySupport } from "./keys/key.ts";
import { notifyKeys } from "./keys/notify.ts";
import { olderKeys } from "./keys/older.ts";
import { roleKeys } from "./keys/role.ts";
import { searchKeys } from "./keys/search.ts";
import { siteKeys } from "./keys/site.ts";
import { taskKeys } from "./keys/task.ts";

const SECTIONS: readonly (readonly [string, Readonly<Record<string, KeyDefinition>>])[] = [
  ["The job", applicationKeys],
  ["Each role", roleKeys],
  ["All tasks and containers", taskKeys],
  ["The ApplicationMaster", amKeys],
  ["Notices", notifyKeys],
  ["Cost", costKeys],
  ["Failures", failureKeys],
  ["Checkpoints and output", carrierKeys],
  ["A search", searchKeys],
  ["Feeds", feedKeys],
  ["Images", imageKeys],
  ["The site, history", siteKeys],
  ["Older names", olderKeys],
];

const SUPPORT: Readonly<Record<KeySupport, string>> = {
  works: "",
  "ignored-with-warning": "*No effect.* ",
};

const HEAD = `# Keys

\`npm run docs\` generates this page from the table in \`src/job/keys/\`; edit it there.

A key is set in the job's file (\`--conf job.xml\`), for a whole site in \`$TONY_CONF_DIR/tony-site.xml\`, or by \`--conf KEY=VALUE\`. Later values
win, in this order: defaults, the job's file, the site's file, the command line; a value that the site's file marks \`<final>\` cannot be overridden.
\`tony-ts keys --effective --conf job.xml\` shows which values apply and where they were set, \`tony-ts validate --conf job.xml\` what is wrong.

- \`{role}\` is the name of a role: \`worker\`, \`ps\`, \`chief\`, or any other of lower-case letters, digits and \`-\`.
- Memory is \`2g\`, \`512m\`, or a bare number of MiB. Durations take a unit (\`90s\`, \`5m\`, \`2h\`); a bare number has the unit in the type column.
- In a list of \`NAME=value\` a comma inside a value is written \`\\,\`. The command line adds to keys marked + instead of replacing them.
- *ours*: not one of TonY's keys. *No effect*: accepted with a warning, so that a TonY job runs unchanged.
- Any key outside \`tony.\` is Hadoop's and overrides the cluster's configuration for this job.
`;

/** docs/reference/keys.md, from the table. */
export function keysPage(): string {
  return [HEAD, ...SECTIONS.map(([title, keys]) => section(title, keys))].join("\n");
}

function section(title: string, keys: Readonly<Record<string, KeyDefinition>>): string {
  const rows = Object.entries(keys).map(([name, definition]) => row(name, definition));
  return [`## ${title}`, "", "| key | type | default | |", "| --- | --- | --- | --- |", ...rows, ""].join("\n");
}

function row(name: string, { type, default: preset, doc, support, note, multiValued, ours }: KeyDefinition): string {
  const marks = `${multiValued === true ? " +" : ""}${ours === true ? " *ours*" : ""}`;
  const value = preset === undefined ? "" : preset === "" ? "empty" : `\`${preset}\``;
  const remark = note === undefined ? "" : ` (${note})`;
  return `| ${[`\`${name}\`${marks}`, type.label, value, SUPPORT[support] + doc + remark].map(cell).join(" | ")} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
