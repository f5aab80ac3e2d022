import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import type { MasterCommand } from "../../src/api/messages.ts";

/** A link to an executor that keeps what is sent over it. */
export function recordedLink(task: string, containerId: string) {
  const sent: MasterCommand[] = [];
  const link: ExecutorLink = {
    task,
    containerId,
    build: "test",
    send: (_generation, command) => sent.push(command),
    close() {},
  };
  return { link, sent };
}
