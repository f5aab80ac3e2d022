import type { TaskAddress } from "../job/cluster-spec.ts";
import type { RoleSpec } from "../job/spec.ts";
import { isAfter } from "../job/stages.ts";
import { formatTaskId } from "../job/task.ts";
import { type Addresses, addressesOf, namedAddressesOf } from "./addresses.ts";
import type { FrameworkDefinition, FrameworkJob, FrameworkProblem, GangTask } from "./framework.ts";

/**
 * `{{role}}`, `{{ spec.worker }}`; braces that begin with anything but a lower-case letter belong to another language. After a `\` the text
 * stays unchanged.
 */
const TEMPLATE = /\\?\{\{ *([a-z][a-z0-9.-]*) *\}\}/g;
const OWN = ["role", "index", "count", "host", "port", "spec.json"] as const;
type Own = (typeof OWN)[number];

/** Any other program: what it needs to know is written into its command and environment, where the job has `{{…}}`. */
export const generic: FrameworkDefinition<never> = {
  check: (job) => job.roles.flatMap((role) => textsOf(role).flatMap((text) => problemsOf(role, text, job))),
  environment: () => undefined,
  fill: (text, task) => {
    const addresses = { ...addressesOf(task), ...namedAddressesOf(task) };
    return text.replace(TEMPLATE, (whole, name: string) =>
      isLiteral(whole) ? whole.slice(1) : (templateValue(name, task, addresses) ?? whole),
    );
  },
};

const isLiteral = (found: string) => found.startsWith("\\");

/** Escapes a text that programs should get unchanged: nothing in it is a template. */
export function literalText(text: string): string {
  return text.replace(TEMPLATE, (whole) => `\\${whole}`);
}

/** A role's texts that may contain templates, each with its key. */
function textsOf({ name, command, environment }: RoleSpec): [string, string][] {
  const values = Object.values(environment).map((value): [string, string] => [`tony.${name}.envs`, value]);
  return [[`tony.${name}.command`, command], ...values];
}

function problemsOf(
  role: RoleSpec,
  [key, text]: readonly [string, string],
  { roles, distributedMode, isSearch = false }: FrameworkJob,
): FrameworkProblem[] {
  const known = [...OWN, ...(role.ports ?? []).map((port) => `port.${port}`), ...roles.flatMap(addressNames)];
  return Array.from(text.matchAll(TEMPLATE), ([whole, name = ""]): FrameworkProblem[] => {
    if (isLiteral(whole) || (isSearch && name.startsWith("param."))) return [];
    if (!known.includes(name)) {
      const message = `has ${whole}, which is not one of ${known.join(", ")}; \\${whole} stays as it is, without the \\`;
      return [{ severity: "error", key, message }];
    }
    if (distributedMode !== "gang") {
      const message = `has ${whole}, which is not known in tony.application.distributed-mode = fcfs`;
      return [{ severity: "error", key, message }];
    }
    const absence = absenceOf(name, role, roles);
    return absence === undefined ? [] : [{ severity: "error", key, message: `has ${whole}: ${absence}` }];
  }).flat();
}

/** Why the role that a template names has no addresses; undefined: it runs beside the task, or may. */
function absenceOf(template: string, { name }: RoleSpec, roles: readonly RoleSpec[]): string | undefined {
  const other = roles.find((role) => addressNames(role).includes(template));
  if (other === undefined) return undefined;
  if (isAfter(roles, other.name, name)) return `${other.name} is asked for when ${name} is done`;
  const isOver = other.tracking === "tracked" && isAfter(roles, name, other.name);
  return isOver ? `${other.name} is done when ${name} is asked for` : undefined;
}

/** `spec.worker`, and `spec.worker.rpc` for each named port of the role. */
function addressNames({ name, ports = [] }: RoleSpec): string[] {
  return [`spec.${name}`, ...ports.map((port) => `spec.${name}.${port}`)];
}

function templateValue(name: string, task: GangTask, addresses: Addresses): string | undefined {
  if (isOwn(name)) return ownValue(name, task, addresses);
  const [, what, which = ""] = /^(port|spec)\.(.+)$/.exec(name) ?? [];
  return what === "port" ? ownAddress(task)?.ports?.[which]?.toString() : addresses[which]?.join(",");
}

function isOwn(name: string): name is Own {
  return OWN.some((own) => own === name);
}

function ownValue(name: Own, task: GangTask, addresses: Addresses): string {
  const { role, index } = task;
  const values: Record<Own, () => string> = {
    role: () => role.name,
    index: () => String(index),
    count: () => String(role.instances),
    host: () => ownAddress(task)?.host ?? "",
    port: () => String(ownAddress(task)?.port ?? ""),
    "spec.json": () => JSON.stringify(addresses),
  };
  return values[name]();
}

function ownAddress({ cluster, role, index }: GangTask): TaskAddress | undefined {
  return cluster.tasks.find(({ task }) => task === formatTaskId(role.name, index));
}
