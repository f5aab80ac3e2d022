/** The enumerations of YARN's messages, under the names that records use: Java's names, without protobuf's prefixes. */
import { yarn } from "../wire/yarn.ts";

/** Names ⇄ numbers. A newer server's number that we do not know reads as `unknown`. */
class EnumTable<Name extends string, Value extends number> {
  readonly #values: Readonly<Record<Name, Value>>;
  readonly #names: ReadonlyMap<number, Name>;
  readonly #unknown: Name;

  constructor(values: Readonly<Record<Name, Value>>, unknown: NoInfer<Name>) {
    this.#values = values;
    this.#unknown = unknown;
    const names = Object.keys(values).filter((name): name is Name => Object.hasOwn(values, name));
    this.#names = new Map(names.map((name) => [values[name], name]));
  }

  toWire(name: Name): Value {
    return this.#values[name];
  }

  fromWire(value: Value | null | undefined): Name {
    return this.#names.get(value ?? Number.NaN) ?? this.#unknown;
  }
}

const application = yarn.YarnApplicationStateProto;
export const applicationStates = new EnumTable(
  {
    NEW: application.NEW,
    NEW_SAVING: application.NEW_SAVING,
    SUBMITTED: application.SUBMITTED,
    ACCEPTED: application.ACCEPTED,
    RUNNING: application.RUNNING,
    FINISHED: application.FINISHED,
    FAILED: application.FAILED,
    KILLED: application.KILLED,
  },
  "NEW",
);

const finalStatus = yarn.FinalApplicationStatusProto;
export const finalStatuses = new EnumTable(
  {
    UNDEFINED: finalStatus.APP_UNDEFINED,
    SUCCEEDED: finalStatus.APP_SUCCEEDED,
    FAILED: finalStatus.APP_FAILED,
    KILLED: finalStatus.APP_KILLED,
    ENDED: finalStatus.APP_ENDED,
  },
  "UNDEFINED",
);

const container = yarn.ContainerStateProto;
export const containerStates = new EnumTable(
  { NEW: container.C_NEW, RUNNING: container.C_RUNNING, COMPLETE: container.C_COMPLETE },
  "NEW",
);

const execution = yarn.ExecutionTypeProto;
export const executionTypes = new EnumTable(
  { GUARANTEED: execution.GUARANTEED, OPPORTUNISTIC: execution.OPPORTUNISTIC },
  "GUARANTEED",
);

const node = yarn.NodeStateProto;
export const nodeStates = new EnumTable(
  {
    NEW: node.NS_NEW,
    RUNNING: node.NS_RUNNING,
    UNHEALTHY: node.NS_UNHEALTHY,
    DECOMMISSIONED: node.NS_DECOMMISSIONED,
    LOST: node.NS_LOST,
    REBOOTED: node.NS_REBOOTED,
    DECOMMISSIONING: node.NS_DECOMMISSIONING,
    SHUTDOWN: node.NS_SHUTDOWN,
  },
  "NEW",
);

const queue = yarn.QueueStateProto;
export const queueStates = new EnumTable(
  { STOPPED: queue.Q_STOPPED, RUNNING: queue.Q_RUNNING, DRAINING: queue.Q_DRAINING },
  "STOPPED",
);

const queueAcl = yarn.QueueACLProto;
export const queueAcls = new EnumTable(
  {
    SUBMIT_APPLICATIONS: queueAcl.QACL_SUBMIT_APPLICATIONS,
    ADMINISTER_QUEUE: queueAcl.QACL_ADMINISTER_QUEUE,
  },
  "SUBMIT_APPLICATIONS",
);

const visibility = yarn.LocalResourceVisibilityProto;
export const resourceVisibilities = new EnumTable(
  { PUBLIC: visibility.PUBLIC, PRIVATE: visibility.PRIVATE, APPLICATION: visibility.APPLICATION },
  "APPLICATION",
);

const resourceType = yarn.LocalResourceTypeProto;
export const localResourceTypes = new EnumTable(
  { FILE: resourceType.FILE, ARCHIVE: resourceType.ARCHIVE, PATTERN: resourceType.PATTERN },
  "FILE",
);

const scope = yarn.ApplicationsRequestScopeProto;
export const listingScopes = new EnumTable({ ALL: scope.ALL, VIEWABLE: scope.VIEWABLE, OWN: scope.OWN }, "ALL");
