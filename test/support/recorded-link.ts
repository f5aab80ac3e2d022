import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import type { MasterCommand } from "../../src/api/messages.ts";

/** A link to an executor that keeps what is sent over it, and whether it was closed. */
export function recordedLink(task: string, containerId: string) {
  const sent: (MasterCommand | "closed")[] = [];
  const link: ExecutorLink = {
    task,
    containerId,
    build: "test",
    send: (_generation, command) => sent.push(command),
    close: () => sent.push("closed"),
  };
  return { link, sent };
}
