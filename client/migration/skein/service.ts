import { RESERVED_ROLE_NAMES } from "../../../src/job/keys.ts";
import type { MigrationKind } from "../../printed-json.ts";
import type { SpecField } from "./document.ts";
import { amounts, command, type Draft, environment, files } from "./draft.ts";
import { scriptText, trueText, wholeNumberText } from "./values.ts";

/** Unlimited restarts: no job lasts for this many. */
const endless = 1000;

/** The special meaning of these role names in a job: Skein has no special names. */
const meanings: ReadonlyMap<string, string> = new Map([
  ["ps", "a job does not wait for a role"],
  ["tensorboard", "a job does not wait for a role"],
  ["chief", "a job ends with the role"],
  ["evaluator", "a job waits a limited time for a role"],
]);
const OF_WORKER = "the failure of worker:0 always counts in a job with a role";

/** A service of Skein's, which becomes a role. */
export class Service {
  /** The service's name in the form that a role may have. */
  readonly role: string;
  readonly #field: SpecField;
  /** Why the role cannot have the service's name, where that has to be explained. */
  readonly #meaning: string | undefined;

  /** @param taken names of other services that may map to the same role name */
  constructor(field: SpecField, taken: readonly string[]) {
    this.#field = field;
    const name = field.name.toLowerCase().replaceAll(/[^a-z0-9-]/g, "-");
    this.#meaning = name === "worker" && this.allowsFailures ? OF_WORKER : meanings.get(name);
    const isFree = /^[a-z]/.test(name) && !RESERVED_ROLE_NAMES.has(name) && this.#meaning === undefined;
    const role = isFree ? name : `role-${name}`;
    const numbered = taken.map((_, index) => `${role}-${index + 2}`);
    this.role = [role, ...numbered].find((one) => !taken.includes(one)) ?? role;
  }

  /** How often all its containers together are restarted in Skein. */
  get restarts(): number {
    const text = this.#field.fields.find(({ name }) => name === "max_restarts")?.text ?? "0";
    return text === "-1" ? endless : Number(text) || 0;
  }

  /** Whether its failures never end the application in Skein. */
  get allowsFailures(): boolean {
    return trueText(this.#field.fields.find(({ name }) => name === "allow_failures")?.text ?? "");
  }

  migrate(draft: Draft): void {
    const { name, fields } = this.#field;
    const why = this.#meaning === undefined ? "" : `: ${this.#meaning} of that name`;
    const renamed = this.role === name ? "" : `, named ${this.role}${why}`;
    draft.say("changes", `service ${name} becomes a role${renamed}`, this.#field);
    const instances = fields.find((field) => field.name === "instances");
    if (instances === undefined) draft.settings.push({ name: this.#key("instances"), value: "1" });
    for (const field of fields) this.#migrate(field, draft);
  }

  #key(suffix: string): string {
    return `tony.${this.role}.${suffix}`;
  }

  #migrate(field: SpecField, draft: Draft): void {
    const { name, text = "" } = field;
    if (name === "instances" && text === "0") this.#noInstances(field, draft);
    else if (name === "instances") draft.set(this.#key(name), wholeNumberText(text), field);
    else if (name === "node_label") draft.set(this.#key("node-label"), text, field);
    else if (name === "resources") amounts(draft, this.role, field);
    else if (name === "files") files(draft, this.#key("resources"), field);
    else if (name === "env") environment(draft, this.#key("envs"), field);
    else if (name === "script" || name === "commands") this.#script(field, draft);
    else if (name === "max_restarts") this.#restarts(text, field, draft);
    else if (name === "allow_failures") this.#failures(field, draft);
    else draft.say(...(withoutKey.get(name) ?? ["to-mend", `${name} is not a field of Skein`]), field);
  }

  #noInstances(field: SpecField, draft: Draft): void {
    draft.settings.push({ name: this.#key("instances"), value: "1" });
    const message = `instances: 0 becomes 1: Skein's clients add containers later; set ${this.#key("instances")} to as many as are needed`;
    draft.say("to-mend", message, field);
  }

  #script(field: SpecField, draft: Draft): void {
    const environment = this.#field.fields.find(({ name }) => name === "env");
    command(draft, this.#key("command"), { text: scriptText(field), environment }, field);
  }

  #restarts(text: string, field: SpecField, draft: Draft): void {
    if (text === "0") {
      draft.say("no-meaning", "max_restarts: none is what holds without it", field);
      return;
    }
    const count = this.#key("retry-count");
    draft.settings.push({ name: this.#key("restart-policy"), value: "task" });
    const asOften = this.restarts === endless ? `${endless} times, for a service that always starts again; ` : "";
    draft.set(count, String(this.restarts), field, `${asOften}a task keeps its number when it starts again, alone`);
  }

  #failures(field: SpecField, draft: Draft): void {
    const key = "tony.application.fail-on-worker-failure-enabled";
    if (this.allowsFailures) draft.set(key, "false", field, TOLERATED);
    else draft.say("no-meaning", "allow_failures: that they count is what holds without it", field);
  }
}

const TOLERATED = "a failed task of this service no longer fails the job, unless all tasks have failed";

const onHosts = (name: string): readonly [MigrationKind, string] => [
  "to-mend",
  `${name}: hosts cannot be named; tony.<role>.node-label chooses among nodes`,
];

/** Fields without a corresponding key. */
const withoutKey: ReadonlyMap<string, readonly [MigrationKind, string]> = new Map([
  [
    "depends",
    [
      "no-meaning",
      "depends: all programs start together, when every container is there; tony.<role>.depends-on waits for an end",
    ],
  ],
  ["nodes", onHosts("nodes")],
  ["racks", onHosts("racks")],
  [
    "relax_locality",
    ["no-meaning", "relax_locality: it says how strictly nodes and racks hold, which cannot be named"],
  ],
]);
