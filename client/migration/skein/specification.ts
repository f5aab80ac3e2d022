import { writeProperties } from "../../../src/hadoop/conf/write-xml.ts";
import type { MigratedText } from "../job-file.ts";
import type { SpecField, SpecValue } from "./document.ts";
import { amounts, command, Draft, environment, files } from "./draft.ts";
import { Service } from "./service.ts";
import { scriptText, trueText } from "./values.ts";

/** The Skein specification in a document: the document itself, or the part below `yarn` in dask-yarn's configuration. */
export function findSpecification(document: SpecValue): SpecValue | undefined {
  const below = (value: SpecValue | undefined, name: string) => value?.fields.find((field) => field.name === name);
  const ofDask = below(below(document, "yarn"), "specification") ?? below(document, "specification");
  return [document, ofDask].find((value) => value !== undefined && isSpecification(value));
}

/** Services, or a master, that run a script (jcristharif.com/skein/specification.html). */
function isSpecification({ fields }: SpecValue): boolean {
  const services = fields.find(({ name }) => name === "services")?.fields ?? [];
  const masters = fields.filter(({ name }) => name === "master");
  return [...services, ...masters].some(({ fields: own }) =>
    own.some(({ name }) => name === "script" || name === "commands"),
  );
}

/** Migrates a Skein specification to a job's file, with what happened to each line. */
export function migrateSpecification(specification: SpecValue): MigratedText {
  return new Migration(specification).result();
}

/** Fields whose values belong to the person who wrote them, even empty ones. */
const FREE = new Set(["env", "files"]);

/** Skein writes every field, unset ones with zero or null (skein.ApplicationSpec.to_yaml). */
function withoutDefaults(value: SpecValue): SpecValue {
  const fields = value.fields
    .map((field) => (FREE.has(field.name) ? field : { ...field, ...withoutDefaults(field) }))
    .filter(({ name, text = "", items, fields: own }) => {
      const isNone = (name === "gpus" || name === "fpgas") && text === "0";
      return !isNone && text + items.length + own.length !== "00";
    });
  return { ...value, fields };
}

class Migration {
  readonly #draft = new Draft();
  readonly #specification: SpecValue;
  readonly #services: readonly Service[];

  constructor(specification: SpecValue) {
    this.#specification = withoutDefaults(specification);
    const services = this.#specification.fields.find(({ name }) => name === "services")?.fields ?? [];
    const made: Service[] = [];
    for (const field of services)
      made.push(
        new Service(
          field,
          made.map(({ role }) => role),
        ),
      );
    this.#services = made;
  }

  result(): MigratedText {
    const draft = this.#draft;
    draft.settings.push({ name: "tony.application.framework", value: "generic" });
    for (const field of this.#specification.fields) this.#field(field);
    return { text: writeProperties(draft.settings), remarks: draft.remarks };
  }

  #field(field: SpecField): void {
    const { name, text = "" } = field;
    const draft = this.#draft;
    const key = plain.get(name);
    if (key !== undefined) {
      draft.set(key, text === "" ? listText(field) : text, field);
    } else if (name === "max_attempts") {
      draft.set("tony.am.max-attempts", text, field, "the tasks go on while another ApplicationMaster takes over");
    } else if (name === "user") {
      draft.say("to-mend", `user: set HADOOP_PROXY_USER=${text} where the job is submitted`, field);
    } else if (name === "acls") {
      this.#accessLists(field);
    } else if (name === "master") {
      this.#master(field);
    } else if (name === "services") {
      for (const service of this.#services) service.migrate(draft);
      this.#strict(field);
    } else {
      draft.say("to-mend", `${name} is not a field of Skein`, field);
    }
  }

  /** Where failures are tolerated, a service that may neither restart nor fail still ends the job when it fails. */
  #strict(services: SpecField): void {
    const draft = this.#draft;
    if (!this.#services.some(({ allowsFailures }) => allowsFailures)) return;
    const strict = this.#services.filter(({ restarts, allowsFailures }) => restarts === 0 && !allowsFailures);
    if (strict.length === 0) return;
    const final = strict.map(({ role }) => role);
    draft.settings.push({ name: "tony.application.stop-on-failure-jobtypes", value: final.join(",") });
    draft.say("changes", `a failure of ${final.join(", ")} ends the job, as max_restarts is 0`, services);
  }

  #accessLists(acls: SpecField): void {
    const lists = new Map(acls.fields.map((field) => [field.name, field]));
    if (!trueText(lists.get("enable")?.text)) {
      this.#draft.say("no-meaning", "acls have no effect: enable is not true", acls);
      return;
    }
    for (const right of ["view", "modify"]) {
      const [users, groups] = [lists.get(`${right}_users`), lists.get(`${right}_groups`)];
      const from = users ?? groups;
      if (from === undefined) continue;
      const names = `${users === undefined ? "" : listText(users)} ${groups === undefined ? "" : listText(groups)}`;
      this.#draft.set(`tony.application.acl.${right}`, /(^|[ ,])\*/.test(names) ? "*" : names.trimEnd(), from);
    }
    const pages = lists.get("ui_users");
    if (pages !== undefined) {
      this.#draft.say(
        "no-meaning",
        "ui_users: whom tony.application.acl.view names sees the job wherever it shows",
        pages,
      );
    }
  }

  /** The application's own script: the job's only command, or the only role that the job waits for. */
  #master(master: SpecField): void {
    const draft = this.#draft;
    const isAlone = this.#services.length === 0;
    const script = master.fields.find(({ name }) => name === "script" || name === "commands");
    const driver = this.#services.some((one) => one.role === "driver") ? "master" : "driver";
    const role = isAlone || script === undefined ? "am" : driver;
    const env = master.fields.find(({ name }) => name === "env");
    for (const field of master.fields) {
      const { name, text = "" } = field;
      if (field === script)
        command(draft, `tony.${role}.command`, { text: scriptText(field), environment: env }, field);
      else if (name === "resources") amounts(draft, role, field);
      else if (name === "files") files(draft, `tony.${role}.resources`, field);
      else if (name === "env" && script === undefined) draft.say("no-meaning", "env: the master runs no script", field);
      else if (name === "env") environment(draft, isAlone ? "tony.execution.envs" : `tony.${role}.envs`, field);
      else if (name === "log_level") draft.set("tony.am.log-level", levels.get(text.toUpperCase()) ?? "info", field);
      else if (name === "log_config") draft.say("no-meaning", "log_config is log4j's", field);
      else if (name === "security") draft.say("no-meaning", "security: each application makes its own keys", field);
      else draft.say("to-mend", `${name} is not a field of Skein`, field);
    }
    if (script === undefined || isAlone) return;
    const others = this.#services.map(({ role: name }) => name).join(",");
    draft.settings.push({ name: `tony.${role}.instances`, value: "1" });
    draft.settings.push({ name: "tony.application.untracked.jobtypes", value: others });
    draft.say("changes", `the job ends when role ${role} does, and does not wait for ${others}`, script);
  }
}

const plain: ReadonlyMap<string, string> = new Map([
  ["name", "tony.application.name"],
  ["queue", "tony.yarn.queue"],
  ["node_label", "tony.application.node-label"],
  ["tags", "tony.application.tags"],
  ["file_systems", "tony.other.namenodes"],
]);

const levels: ReadonlyMap<string, string> = new Map([
  ["ALL", "debug"],
  ["TRACE", "debug"],
  ["DEBUG", "debug"],
  ["INFO", "info"],
  ["WARN", "warn"],
  ["ERROR", "error"],
  ["FATAL", "error"],
  ["OFF", "error"],
]);

const listText = ({ items }: SpecField) => items.flatMap(({ text }) => text ?? []).join(",");
