import { formatHostPort } from "../hadoop/conf/values.ts";
import type { TaskAddress } from "../job/cluster-spec.ts";
import type { RoleSpec } from "../job/spec.ts";
import { isOneStage } from "../job/stages.ts";
import { formatTaskId } from "../job/task.ts";
import type { GangTask } from "./framework.ts";

/** `role → host:port of each index`, in the job's order: the form of tf.train.ClusterSpec. */
export type Addresses = Readonly<Record<string, readonly string[]>>;

/** Roles of other stages are included while they run. */
export function addressesOf(task: GangTask): Addresses {
  const ports = task.spec.roles.map((role): ListedPort => ({ key: role.name, role, portOf: ({ port }) => port }));
  return listed(task, ports);
}

/** The same for each named port of a role: `role.name → host:port of each index`. */
export function namedAddressesOf(task: GangTask): Addresses {
  const ports = task.spec.roles.flatMap((role) =>
    (role.ports ?? []).map((name): ListedPort => {
      return { key: `${role.name}.${name}`, role, portOf: (address) => address.ports?.[name] };
    }),
  );
  return listed(task, ports);
}

/** One port of every task of a role. */
interface ListedPort {
  readonly key: string;
  readonly role: RoleSpec;
  readonly portOf: (address: TaskAddress) => number | undefined;
}

function listed({ spec, cluster, role: own }: GangTask, ports: readonly ListedPort[]): Addresses {
  const byTask = new Map(cluster.tasks.map((address) => [address.task, address]));
  const all = ports.flatMap(({ key, role, portOf }): [string, string[]][] => {
    const some = Array.from({ length: role.instances }, (_, index) => {
      const address = byTask.get(formatTaskId(role.name, index));
      const port = address && portOf(address);
      return address === undefined || port === undefined ? [] : formatHostPort({ host: address.host, port });
    }).flat();
    return some.length > 0 || isOneStage(spec.roles, role.name, own.name) ? [[key, some]] : [];
  });
  return Object.fromEntries(all);
}

/** The address of a role's first task; undefined where it does not run. */
export function firstOf({ cluster }: Pick<GangTask, "cluster">, role: string): TaskAddress | undefined {
  return cluster.tasks.find(({ task }) => task === formatTaskId(role, 0));
}
