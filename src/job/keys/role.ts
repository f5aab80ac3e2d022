import { key } from "./key.ts";
import { placementConstraint } from "./placement-types.ts";
import { environment, integer, label, limit, list, memory, oneOf, optionalDuration, portNames, text } from "./types.ts";

/** Keys for each role: `{role}` is its name. */
export const roleKeys = {
  "tony.{role}.instances": key({
    type: integer({ max: 100_000 }),
    doc: "How many tasks the role has. This key creates the role.",
    support: "works",
  }),
  "tony.{role}.min-instances": key({
    type: integer({ min: 1 }),
    spec: ["role", "minInstances"],
    doc: "With torchrun and Horovod: the minimum number of tasks with which the role can train. The job starts with these, others join when they get a container, and a lost one does not restart the rest (docs/guide/elastic.md).",
    support: "works",
    ours: true,
  }),
  "tony.{role}.max-instances": key({
    type: limit,
    default: "-1",
    doc: "The largest number of instances that a job may ask for.",
    support: "works",
  }),
  "tony.{role}.memory": key({ type: memory, default: "2g", doc: "Memory of each container.", support: "works" }),
  "tony.{role}.vcores": key({ type: integer({ min: 1 }), default: "1", doc: "Cores of each.", support: "works" }),
  "tony.{role}.gpus": key({
    type: integer(),
    default: "0",
    doc: "GPUs of each (of the type that tony.gpu-resource-types names first).",
    support: "works",
  }),
  "tony.{role}.resource.{resource}": key({
    type: text,
    doc: "Amount of any other resource type of the cluster in each, with YARN's units: tony.worker.resource.yarn.io/fpga = 1.",
    support: "works",
    ours: true,
  }),
  "tony.{role}.command": key({
    type: text,
    doc: "The command that its tasks run; default tony.containers.command.",
    support: "works",
  }),
  "tony.{role}.processes": key({
    type: integer({ min: 1, max: 1000 }),
    spec: ["role", "processes"],
    default: "1",
    doc: "How many processes of the command each container runs, each with its own ranks; with torchrun, how many processes torchrun starts.",
    support: "works",
    ours: true,
  }),
  "tony.{role}.ports": key({
    type: portNames,
    spec: ["role", "ports"],
    doc: "Names of further ports of each task, such as rpc,metrics. Each is reserved until the program starts, which gets it as TONY_PORT_RPC; TONY_PORTS has the ports of all tasks.",
    support: "works",
    ours: true,
  }),
  "tony.{role}.resources": key({
    type: list,
    doc: "Files, folders and archives placed in its containers in addition to tony.containers.resources.",
    support: "works",
  }),
  "tony.{role}.envs": key({
    type: environment,
    doc: "Environment variables of its programs; they override those of tony.execution.envs.",
    support: "works",
    ours: true,
  }),
  "tony.{role}.node-label": key({ type: label, doc: "Node label of its containers.", support: "works" }),
  "tony.{role}.placement": key({
    type: oneOf("any", "pack", "spread"),
    spec: ["role", "placement"],
    default: "any",
    doc: "any: wherever there is room first. pack: on few nodes. spread: over many nodes.",
    support: "works",
    ours: true,
  }),
  "tony.{role}.restart-policy": key({
    type: oneOf("gang", "task", "none"),
    spec: ["role", "restartPolicy"],
    default: "gang",
    doc: "What restarts when one of its tasks fails: the whole gang, only the task, or nothing.",
    support: "works",
    ours: true,
  }),
  "tony.{role}.retry-count": key({
    type: integer(),
    spec: ["role", "retryCount"],
    doc: "How many times failures of its programs may restart tasks, counted for this role alone; default: counted with the other roles in tony.am.retry-count.",
    support: "works",
    ours: true,
  }),
  "tony.{role}.timeout": key({
    type: optionalDuration("ms"),
    doc: "TonY's older name of a program's time limit (worker only).",
    support: "ignored-with-warning",
    note: "TonY's last release does not read it: use tony.task.executor.execution-timeout-ms",
  }),
  "tony.{role}.placement-spec": key({
    type: placementConstraint,
    doc: "Where YARN may place its containers, in relation to others by their tags, or to attributes of nodes: `notin,node,worker`, `in,rack,ps`, `cardinality,node,worker,0,1`, `java=1.8`, `and(…:…)`; default tony.containers.placement-spec.",
    support: "works",
  }),
  "tony.{role}.allocation-tags": key({
    type: list,
    doc: "The tags by which placement constraints refer to its containers; default tony.containers.allocation-tags.",
    support: "works",
  }),
  "tony.{role}.depends-on": key({
    type: list,
    doc: "Roles whose stages must be done before its containers are requested. Roles that wait for the same ones form one stage: they start and restart together. TonY defines the key but does not read it.",
    support: "works",
  }),
} as const;
