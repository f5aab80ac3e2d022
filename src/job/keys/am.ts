import { key } from "./key.ts";
import { boolean, duration, integer, label, list, memory, oneOf, optionalDuration, portRange, text } from "./types.ts";

/** The ApplicationMaster. */
export const amKeys = {
  "tony.am.memory": key({
    type: memory,
    default: "1g",
    doc: "Memory of the ApplicationMaster's container; 2g if it also runs tony.am.command. TonY's default is 2g: a JVM needs it.",
    support: "works",
  }),
  "tony.am.instances": key({
    type: integer(),
    doc: "In TonY, the number of tasks of a role that is called am.",
    support: "ignored-with-warning",
    note: "am is the ApplicationMaster, and a job has only one; TonY would also start tasks am:0, …: give such a role another name",
  }),
  "tony.am.vcores": key({
    type: integer({ min: 1 }),
    default: "1",
    doc: "Cores of the ApplicationMaster's container.",
    support: "works",
  }),
  "tony.am.gpus": key({
    type: integer(),
    default: "0",
    doc: "GPUs of the ApplicationMaster's container, of the same type as a role's.",
    support: "works",
  }),
  "tony.am.resource.{resource}": key({
    type: text,
    doc: "Its amount of any other resource type of the cluster, with YARN's units.",
    support: "works",
    ours: true,
  }),
  "tony.am.node-label": key({ type: label, doc: "Node label of the ApplicationMaster's container.", support: "works" }),
  "tony.am.resources": key({
    type: list,
    doc: "Files, folders and archives placed in the ApplicationMaster's working directory, written as in tony.containers.resources. It gets the tasks' files only if it runs tony.am.command.",
    support: "works",
  }),
  "tony.am.command": key({
    type: text,
    doc: "The command that runs in the ApplicationMaster's container: as the whole job if it has no tasks (TonY's single-node mode), or before the tasks with tony.application.enable-preprocess. Default tony.containers.command.",
    support: "works",
  }),
  "tony.am.retry-count": key({
    type: integer(),
    spec: ["failure.budgets", "program"],
    default: "0",
    doc: "How many times the tasks are restarted after a failure of the program.",
    support: "works",
  }),
  "tony.am.max-attempts": key({
    type: integer({ min: 1 }),
    spec: ["am", "maxAttempts"],
    doc: "How many times YARN may start an ApplicationMaster; default the cluster's maximum.",
    support: "works",
    ours: true,
  }),
  "tony.am.startup-timeout": key({
    type: optionalDuration("ms"),
    spec: ["timeouts", "startupMs"],
    default: "0",
    doc: "The client kills the application if no ApplicationMaster is running after this time.",
    support: "works",
  }),
  "tony.am.page.enabled": key({
    type: boolean,
    spec: ["am", "page"],
    doc: "Whether the job has a page, at its tracking URL and through `tony-ts page ID`; it has one unless this is false. true: on a cluster with Kerberos, too, the tracking URL shows all of it through YARN's proxy, in clear text, and TensorBoard does not replace it there.",
    support: "works",
    ours: true,
  }),
  "tony.am.port-range": key({
    type: portRange,
    spec: ["ports", "am"],
    doc: "Ports the ApplicationMaster may listen on; without it any free one.",
    support: "works",
    ours: true,
  }),
  "tony.am.log-level": key({
    type: oneOf("debug", "info", "warn", "error"),
    spec: ["logs", "level"],
    default: "info",
    doc: "The lowest level of messages that the ApplicationMaster and the executors log.",
    support: "works",
    ours: true,
  }),
  "tony.am.wait-client-signal-stop-timeout-sec": key({
    type: duration("s"),
    default: "15",
    doc: "How long TonY's ApplicationMaster waits for the client at the end.",
    support: "ignored-with-warning",
    note: "the ApplicationMaster pushes the outcome to its clients and does not wait",
  }),
  "tony.task.am.jvm.opts": key({
    type: text,
    default: "",
    doc: "Options of the ApplicationMaster's JVM.",
    support: "ignored-with-warning",
    note: "there is no JVM",
  }),
} as const;
