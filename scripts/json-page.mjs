// docs/reference/json.md: the output of `--json`, from the interfaces that the code is checked against.
import { readFileSync } from "node:fs";
import path from "node:path";

/** Where the types are declared; the first declaration of a name counts. */
const sources = [
  "client/printed-json.ts",
  "src/job/status.ts",
  "src/job/cost.ts",
  "src/job/execution.ts",
  "src/history/series/file.ts",
  "src/history/series/table.ts",
  "src/history/series/ring.ts",
  "src/advice/advise.ts",
  "src/advice/dr-elephant.ts",
  "src/job/idle.ts",
  "src/job/gpus.ts",
  "src/job/reasons/facts.ts",
  "src/job/reasons/endings.ts",
  "src/job/keys/key.ts",
  "src/api/messages.ts",
  "src/job/problem.ts",
  "src/job/search/trials.ts",
  "src/job/search/space.ts",
  "src/job/search/container-time.ts",
  "src/job/search/median.ts",
  "src/job/search/asha.ts",
  "src/job/search/stop.ts",
  "src/hadoop/yarn/records.ts",
  "src/job/search/trial-list.ts",
  "client/cluster/findings.ts",
  "src/job/key-list.ts",
  "client/shipping/cache-prune.ts",
  "client/shipping/shipping.ts",
];

/** Each command with the type of its output. @type {readonly (readonly [title: string, name: string])[]} */
const results = [
  ["`status ID`", "StatusJson"],
  ["`list`", "ListJson"],
  ["`stacks`", "StacksJson"],
  ["`kv ID get`", "KvGetJson"],
  ["`kv ID put`", "KvPutJson"],
  ["`kv ID del`", "KvDelJson"],
  ["`kv ID list`", "KvListJson"],
  ["`kv ID transact`", "KvTransactJson"],
  ["`kv ID watch`, one object a line", "KvWatchJson"],
  ["`get`", "GetJson"],
  ["`series ID`", "SeriesJson"],
  ["`advise`", "AdviceJson"],
  ["`nodes`", "NodesJson"],
  ["`kill ID…`", "KillJson"],
  ["`validate job.xml`", "ValidateJson"],
  ["`search --dry-run job.xml`", "SearchDryRunJson"],
  ["`trials ID`", "TrialsJson"],
  ["`submit --detach`, `search --detach`", "DetachedJson"],
  ["`submit --dry-run`", "DryRunJson"],
  ["`forward ID worker:0 8080`, `tensorboard ID`", "ForwardJson"],
  ["`page ID`, `page ID --address`", "PageJson"],
  ["`keys`", "KeysJson"],
  ["`migrate`", "MigrateJson"],
  ["`doctor`", "DoctorJson"],
  ["`cache list`", "CacheListJson"],
  ["`cache prune`", "CachePruneJson"],
  ["any command that fails", "ErrorJson"],
];
const events = ["JobEvent", "WaitingEvent", "StatusEvent", "OutputEvent", "RemarkEvent", "EndEvent"];

const head = `# What is printed for programs

\`npm run docs\` generates this page from \`client/printed-json.ts\`; edit it there.

Each command that reads has \`--json\`: it prints one JSON object on stdout, or, if it follows a job, one object a line; messages
for people go to stderr. Each object begins with \`jsonVersion\`, now 1. It is raised when a field is removed or changes its meaning; new
fields, new events and new values may be added at any time. Times end in \`Ms\` and are milliseconds since the epoch; sizes end in \`Bytes\` or
\`MiB\`. A field with \`?\` may be absent. An \`ExitCode\` is one of those that \`tony-ts --help\` lists; a cluster
that is not configured (\`NO_CLUSTER\`) is 3, like one that does not answer. An \`ApplicationId\`, \`ApplicationAttemptId\`, \`ContainerId\` or
\`NodeId\` is text as YARN writes it. A \`JobSpec\` is an object with its own \`specVersion\`: the whole job as it was read from its file.
Every \`…Reason\` and each \`Remedy\` is an object with a \`code\` and facts: [reasons.md](reasons.md).
`;
const following = `## A job that is followed

\`submit\`, \`attach\` and \`wait\` print events, distinguished by \`event\`. The first is \`job\`, the last \`end\`, which has the error if the command
fails. \`wait\` has no \`output\`; with \`--stdin\` each event names its job by \`applicationId\`. \`logs --json\` prints \`output\` and \`end\`. \`submit\` prints \`job\` once the
ResourceManager has the job: after a signal before that, it prints only \`end\` with the error \`NOT_SUBMITTED\`.
`;

/** @param {string} root the checkout */
export function jsonPage(root) {
  const files = sources.map((file) => readFileSync(path.join(root, file), "utf8"));
  const lists = wordLists(files.join("\n"));
  const texts = files.map((text) => withWords(text, lists));
  const declared = new Map(texts.flatMap(declarations).reverse());
  const shown = new Set();
  /** @type {string[]} */
  const waiting = [];
  /** @type {(name: string) => Declaration} */
  const declaration = (name) => {
    const { base, fields, ...own } = declared.get(name) ?? fail(`${name} is declared nowhere`);
    return { ...own, base, fields: [...fields, ...(base === undefined ? [] : declaration(base).fields)] };
  };
  const show = (/** @type {string} */ name, /** @type {string} */ title) => {
    const { doc, fields } = declaration(name);
    shown.add(name);
    waiting.push(...fields.flatMap(({ type }) => type.match(/\b[A-Z]\w+/g) ?? []));
    const rows = fields.map(({ name: field, optional, type, doc: meaning }) => {
      return `| \`${field}${optional}\` | ${cell(type)} | ${meaning} |`;
    });
    const table = ["| field | type | |", "| --- | --- | --- |", ...rows].join("\n");
    return `${title}\n\n${doc === "" ? "" : `${doc}\n\n`}${table}\n`;
  };
  const parts = [
    head,
    "## Results\n",
    ...results.map(([title, name]) => show(name, `### ${title}`)),
    following,
    ...events.map((name) => show(name, `### \`${eventOf(declaration(name))}\``)),
    "## Shapes\n",
  ];
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!shown.has(name) && declared.has(name)) parts.push(show(name, `### ${name}`));
  }
  return [...parts, "### Words\n", "| type | one of |\n| --- | --- |", ...wordsUsed(parts.join("\n"), texts), ""].join(
    "\n",
  );
}

/** The types that are a choice of words and that the page names. @param {string} page @param {readonly string[]} texts */
function wordsUsed(page, texts) {
  const aliases = texts.flatMap((text) => [
    ...text.matchAll(/^export type (\w+) =\s+((?:\|?\s*(?:"[^"]+"|\w+)\s*)+);/gm),
  ]);
  const choices = new Map(aliases.map(([, name = "", words = ""]) => [name, plain(words).replace(/^\| /, "")]));
  /** @type {(words: string) => string} */
  const spelt = (words) =>
    words.replace(/"[^"]+"|\w+/g, (word) => {
      const choice = choices.get(word);
      return choice === undefined ? word : spelt(choice);
    });
  return [...choices]
    .map(([name, words]) => ({ name, words: spelt(words) }))
    .filter(({ name, words }) => new RegExp(`\\b${name}\\b`).test(page) && /^("[^"]+"( \| )?)+$/.test(words))
    .map(({ name, words }) => `| ${name} | ${cell(words)} |`);
}

/** @param {Declaration} declaration whose first field is the event's word */
function eventOf({ fields: [event] }) {
  return event?.type.replaceAll('"', "");
}

/**
 * The interfaces of a file, as the formatter lays them out, by name.
 * @typedef {{ doc: string, base: string | undefined, fields: Field[] }} Declaration
 * @typedef {{ name: string, optional: string, type: string, doc: string }} Field
 * @param {string} text
 * @returns {[string, Declaration][]}
 */
function declarations(text) {
  const found = text.matchAll(
    /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^(?:export )?interface (\w+)(?: extends (\w+))? \{\n([\s\S]*?)^\}/gm,
  );
  return [...found].map(([, doc, name = "", base, body = ""]) => [
    name,
    { doc: sentence(doc), base, fields: fieldsOf(body) },
  ]);
}

/** @param {string} body @returns {Field[]} */
function fieldsOf(body) {
  const found = body.matchAll(
    /(?:^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^ {2}readonly (\w+)(\??): ([\s\S]*?);$(?=\n {2}[^\s}]|\n?$(?![\s\S]))/gm,
  );
  return [...found].map(([, doc, name = "", optional = "", type = ""]) => {
    return { name, optional, type: plain(type), doc: sentence(doc) };
  });
}

/** Replaces the name of a list of words by the words. @param {string} text @param {ReadonlyMap<string, string>} lists */
function withWords(text, lists) {
  return text.replace(/\(typeof (\w+)\)\[number\]/g, (whole, list) => lists.get(list) ?? whole);
}

/** Lists of words from which types are derived: `kinds` → `"a" | "b"`. @param {string} text */
function wordLists(text) {
  const found = text.matchAll(/^export const (\w+) = \[("[^\]]*)\] as const;/gm);
  return new Map(
    [...found].map(([, name = "", words = ""]) => [
      name,
      words
        .split(",")
        .map((word) => word.trim())
        .join(" | "),
    ]),
  );
}

/** @param {string} [doc] */
function sentence(doc = "") {
  return doc
    .replace(/^\s*\* ?/gm, "")
    .replace(/\s+/g, " ")
    .replaceAll("|", "\\|")
    .trim();
}

/** @param {string} type */
function plain(type) {
  return type
    .replace(/\/\*\*[\s\S]*?\*\//g, "")
    .replaceAll("readonly ", "")
    .replace(/Readonly<(Record<.*>)>/, "$1")
    .replace(/\s+/g, " ")
    .trim();
}

/** @param {string} type */
function cell(type) {
  return `\`${type.replaceAll("|", "\\|")}\``;
}

/** @param {string} message @returns {never} */
function fail(message) {
  throw new Error(message);
}
