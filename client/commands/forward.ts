import { UserError } from "../../src/errors.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { applicationArgument, settingOptions, taskArgument } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { localPortOption, parsePort } from "../command-line/option-values.ts";

/** An AM that has just started does not know its tasks yet. */
const startMs = 30_000;

export const forward = defineCommand({
  verb: "forward",
  summary: "Forward a local port to a task's port, until Ctrl-C or the end of the job",
  positionals: {
    application: applicationArgument,
    task: taskArgument,
    port: {
      describe: "The port that the task's program listens on",
      required: true,
    },
  },
  options: { ...localPortOption, ...settingOptions, ...jsonOption },
  examples: [
    ["forward application_1795305600000_0007 worker:0 8080", "Open worker:0's port 8080 at 127.0.0.1:8080"],
    ["forward application_1795305600000_0007 worker:0 8080 --local-port 9000", "Use local port 9000"],
  ],
  run: async ({ application, task, port: text, "local-port": localPort, conf, json }, context) => {
    const port = parsePort("The task's port", text);
    const { forwardUntilEnd, leadsTo } = await import("../sessions/forward.ts");
    const { taskMeant } = await import("../sessions/named-tasks.ts");
    return await forwardUntilEnd(
      application,
      {
        find: (status) => {
          const meant = taskMeant(status, task);
          return meant !== undefined && hasTask(status, meant) ? { task: meant, port } : undefined;
        },
        patience: {
          waitMs: ({ roles }) => (roles.length === 0 ? startMs : 0),
          missing: ({ roles }) => noSuchTask(application, task, roles),
        },
        show: leadsTo,
        localPort: localPort === undefined ? undefined : parsePort("--local-port", localPort),
        json,
        conf,
      },
      context,
    );
  },
});

function hasTask({ roles }: JobStatus, task: string): boolean {
  const [, name, index = ""] = /^(.+):(\d+)$/.exec(task) ?? [];
  const role = roles.find((one) => one.name === name);
  return role !== undefined && Number(index) < role.instances;
}

function noSuchTask(application: string, task: string, roles: JobStatus["roles"]): UserError {
  const there = roles.map(({ name, instances }) =>
    instances === 1 ? `${name}:0` : `${name}:0 to ${name}:${instances - 1}`,
  );
  return new UserError(`${application} has no task ${task}; there are ${there.join(", ")}`, { code: "NO_SUCH_TASK" });
}
