import { key } from "./key.ts";
import { boolean, integer, text } from "./types.ts";

const renamed = (use: string) =>
  ({ support: "ignored-with-warning", note: `TonY renamed it: use ${use}`, renamedTo: use }) as const;

/** Keys of TonY's earlier releases that its last one no longer reads. */
export const olderKeys = {
  "tony.application.single-node": key({
    type: boolean,
    default: "false",
    doc: "Run everything in the ApplicationMaster's container.",
    support: "ignored-with-warning",
    note: "a job without tasks runs there",
  }),
  "tony.application.docker.enabled": key({
    type: boolean,
    doc: "Older name of tony.docker.enabled.",
    support: "ignored-with-warning",
    note: "TonY does not read it any more",
    refused: {
      value: "true",
      why: "TonY does not read it any more, and the tasks would run outside of the image: use tony.docker.enabled",
    },
  }),
  "tony.application.docker.image": key({
    type: text,
    doc: "Older name.",
    ...renamed("tony.docker.containers.image"),
  }),
  "tony.task.heartbeat-interval": key({
    type: integer(),
    doc: "Older name.",
    ...renamed("tony.task.heartbeat-interval-ms"),
  }),
  "tony.chief.name": key({
    type: text,
    doc: "Which role has the chief.",
    support: "ignored-with-warning",
    note: "the chief is role chief, else worker:0",
  }),
  "tony.chief.index": key({
    type: integer(),
    doc: "Which task is the chief.",
    support: "ignored-with-warning",
    note: "the chief is role chief, else worker:0",
  }),
  "tony.history.host": key({ type: text, doc: "Older name.", ...renamed("tony.portal.url") }),
  "tony.history.cache.max-entries": key({
    type: integer(),
    doc: "Older name.",
    ...renamed("tony.portal.cache.max-entries"),
  }),
} as const;
