import { imageName } from "./image.ts";
import { key } from "./key.ts";
import { boolean, integer, text } from "./types.ts";

const renamed = (renamedTo: string) => ({ doc: `Older name of ${renamedTo}.`, support: "works", renamedTo }) as const;

const noEffect = (note: string) => ({ support: "ignored-with-warning", note }) as const;

/** Keys of TonY's earlier releases (0.1.0 and later) that its last one no longer reads. */
export const olderKeys = {
  "tony.application.single-node": key({
    type: boolean,
    default: "false",
    doc: "Run everything in the ApplicationMaster's container.",
    ...noEffect("a job without tasks runs there"),
  }),
  "tony.application.insecure-mode": key({
    type: boolean,
    default: "false",
    doc: "Whether the cluster has no Kerberos.",
    ...noEffect("whether the cluster is secured is read from its configuration"),
    quiet: true,
  }),
  "tony.application.docker.enabled": key({ type: boolean, ...renamed("tony.docker.enabled") }),
  "tony.application.docker.image": key({ type: imageName, ...renamed("tony.docker.containers.image") }),
  "tony.task.heartbeat-interval": key({ type: integer(), ...renamed("tony.task.heartbeat-interval-ms") }),
  "tony.task.registration-timeout-sec": key({
    type: integer(),
    default: "300",
    doc: "How long a task may take to register.",
    ...noEffect("use tony.container.registration.timeout"),
  }),
  "tony.task.registration-retry-count": key({
    type: integer(),
    default: "0",
    doc: "How often a task that does not register is started again.",
    ...noEffect("use tony.am.retry-count and tony.container.registration.timeout"),
  }),
  "tony.task.executor.java.agent": key({
    type: text,
    doc: "Agent of the executor's JVM.",
    ...noEffect("there is no JVM"),
  }),
  "tony.chief.name": key({
    type: text,
    doc: "Which role has the chief.",
    ...noEffect("the chief is role chief, else worker:0"),
  }),
  "tony.chief.index": key({
    type: integer(),
    doc: "Which task is the chief.",
    ...noEffect("the chief is role chief, else worker:0"),
  }),
  "tony.history.host": key({ type: text, ...renamed("tony.portal.url") }),
  "tony.history.cache.max-entries": key({ type: integer(), ...renamed("tony.portal.cache.max-entries") }),
  "tony.history.maxAppends": key({
    type: integer(),
    default: "3",
    doc: "How often TonY's ApplicationMaster tries to write an event of the history.",
    ...noEffect("a setting of TonY's own writer of events"),
  }),
  "tony.init.module": key({
    type: text,
    default: "Startup",
    doc: "Module of TonY's history server.",
    ...noEffect("a setting of TonY's own web server"),
  }),
} as const;
