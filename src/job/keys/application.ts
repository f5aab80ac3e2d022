import { key } from "./key.ts";
import { boolean, duration, integer, label, list, oneOf, optionalDuration, path, text, withRefused } from "./types.ts";

/** The job as a whole. */
export const applicationKeys = {
  "tony.application.name": key({
    type: text,
    default: "TonyApplication",
    doc: "The job's name, as YARN lists it.",
    support: "works",
  }),
  "tony.application.type": key({ type: text, default: "TONY", doc: "YARN's application type.", support: "works" }),
  "tony.application.tags": key({ type: list, default: "", doc: "YARN's application tags.", support: "works" }),
  "tony.application.priority": key({
    type: integer(),
    doc: "YARN's application priority; without it the queue's default.",
    support: "works",
    ours: true,
  }),
  "tony.yarn.queue": key({ type: text, default: "default", doc: "The queue to submit to.", support: "works" }),
  "tony.application.framework": key({
    type: withRefused(oneOf("tensorflow", "pytorch", "standalone"), "mxnet", "horovod"),
    default: "tensorflow",
    doc: "Which framework's environment the programs get.",
    support: "works",
  }),
  "tony.application.distributed-mode": key({
    type: oneOf("gang", "fcfs"),
    default: "gang",
    doc: "gang: no program starts before every task has registered. fcfs: each task starts as soon as it can, without a cluster spec.",
    support: "works",
  }),
  "tony.application.node-label": key({
    type: label,
    doc: "Node label of every container that names none of its own.",
    support: "works",
  }),
  "tony.application.placement-spec": key({
    type: text,
    doc: "YARN placement constraint for all containers.",
    support: "not-yet",
    note: "tony.{role}.placement spreads or packs a role",
  }),
  "tony.application.timeout": key({
    type: optionalDuration("ms"),
    default: "0",
    doc: "The whole job may take this long.",
    support: "works",
  }),
  "tony.application.checkpoint-dir": key({
    type: path,
    doc: "Where checkpoints are kept (hdfs://, or a path that all machines share); passed to the program as TONY_CHECKPOINT_DIR. A path with neither a scheme nor a leading slash is relative to your home. With tony.checkpoint.local-dir executors copy checkpoints there.",
    support: "works",
    ours: true,
  }),
  "tony.application.untracked.jobtypes": key({
    type: list,
    default: "ps",
    doc: "Roles that the job does not wait for: they are stopped when all others have finished. A failure of one of them still counts.",
    support: "works",
  }),
  "tony.application.sidecar.jobtypes": key({
    type: list,
    default: "tensorboard",
    doc: "Roles that the job does not wait for, and whose failures are ignored.",
    support: "works",
  }),
  "tony.application.stop-on-failure-jobtypes": key({
    type: list,
    default: "ps",
    doc: "Roles whose failure ends the job at once.",
    support: "works",
  }),
  "tony.application.fail-on-worker-failure-enabled": key({
    type: boolean,
    doc: "Set to false, failed workers are tolerated as long as one succeeds. Unset or true, a failed worker fails the job.",
    support: "works",
  }),
  "tony.application.after-chief-grace": key({
    type: duration("ms"),
    default: "5m",
    doc: "How long the other tasks may go on running after the chief has finished.",
    support: "works",
    ours: true,
  }),
  "tony.application.security.enabled": key({
    type: boolean,
    default: "true",
    doc: "Whether to fetch delegation tokens. An open cluster needs no setting: what the cluster asks for is found out.",
    support: "ignored-with-warning",
    note: "whether the cluster is secured is read from its configuration",
  }),
  "tony.application.enable-preprocess": key({
    type: boolean,
    default: "false",
    doc: "Run the ApplicationMaster's command first and hand its parameters to the tasks.",
    support: "not-yet",
  }),
  "tony.application.prepare-stage": key({
    type: list,
    doc: "Roles that run before the training stage.",
    support: "not-yet",
  }),
  "tony.application.training-stage": key({
    type: list,
    doc: "Roles that wait until the prepare stage is done.",
    support: "not-yet",
  }),
  "tony.application.group.{group}": key({
    type: list,
    doc: "Roles that form a group for the dependency time-outs.",
    support: "not-yet",
  }),
  "tony.application.dependency.{role}.timeout.after.{group}": key({
    type: optionalDuration("s"),
    doc: "The role must end so long after the last task of the group.",
    support: "not-yet",
  }),
  "tony.application.dependency.{role}.timeout.after.{group}.ignored": key({
    type: boolean,
    default: "false",
    doc: "Instead of failing the job the role is no longer waited for.",
    support: "not-yet",
  }),
  "tony.application.num-client-rm-connect-retries": key({
    type: integer(),
    default: "3",
    doc: "How long TonY's client tries to reach the ResourceManager.",
    support: "ignored-with-warning",
    note: "the yarn.resourcemanager.connect.* settings decide",
  }),
  "tony.application.hdfs-conf-path": key({
    type: path,
    doc: "An hdfs-site.xml beside HADOOP_CONF_DIR.",
    support: "not-yet",
    note: "set HADOOP_CONF_DIR",
  }),
  "tony.application.yarn-conf-path": key({
    type: path,
    doc: "A yarn-site.xml beside HADOOP_CONF_DIR.",
    support: "not-yet",
    note: "set HADOOP_CONF_DIR",
  }),
  "tony.application.mapred-conf-path": key({
    type: path,
    doc: "A mapred-site.xml beside HADOOP_CONF_DIR.",
    support: "not-yet",
    note: "set HADOOP_CONF_DIR",
  }),
  "tony.application.hadoop.location": key({
    type: path,
    doc: "A Hadoop distribution to unpack in every container.",
    support: "not-yet",
    note: "list it in tony.containers.resources as SOURCE::hadoop#archive",
  }),
  "tony.application.hadoop.classpath": key({
    type: text,
    doc: "The containers' Hadoop class path.",
    support: "not-yet",
    note: "set CLASSPATH in tony.containers.envs",
  }),
  "tony.application.tensorboard-log-dir": key({
    type: path,
    doc: "Runs a TensorBoard next to the job that shows the logs in this folder.",
    support: "works",
  }),
  "tony.other.namenodes": key({
    type: list,
    doc: "Further NameNodes to get delegation tokens from.",
    support: "not-yet",
  }),
} as const;
