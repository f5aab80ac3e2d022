import { usageError } from "../../src/errors.ts";
import { applicationArgument, settingOptions, taskArgument } from "../command-line/application-options.ts";
import { defineCommand } from "../command-line/command.ts";

export const shell = defineCommand({
  verb: "shell",
  summary: "Open a terminal in a task's container, beside its program",
  positionals: { application: applicationArgument, task: taskArgument },
  options: { ...settingOptions },
  rest: { name: "command", describe: "The program to run; default bash" },
  examples: [
    ["shell application_1795305600000_0007 worker:1", "A shell in the program's folder, with its environment"],
    ["shell application_1795305600000_0007 worker:1 -- top", "Run top instead of a shell"],
  ],
  run: async ({ application, task: name, conf }, context, rest) => {
    const { stdin, stdout } = context.streams;
    if (!stdin.isTTY || !stdout.isTTY) throw usageError("There is no terminal here: exec runs commands in a pipe");
    const { connectTask } = await import("../sessions/named-tasks.ts");
    const { runCommand } = await import("../sessions/run-command.ts");
    const { connectTerminal, sizeOf } = await import("../sessions/terminal.ts");
    const words = rest.length === 0 ? ["bash"] : rest;
    const { master, task } = await connectTask(application, name, conf, context);
    const terminal = { size: sizeOf(stdout), type: context.environment.TERM ?? "dumb" };
    const session = master.openSession(task, { type: "command", words, terminal });
    let disconnect: (() => void) | undefined;
    const started = (isTerminal: boolean) => {
      if (isTerminal) disconnect = connectTerminal(context.streams, session);
      else context.output.problem(`${task} has no terminal: its node has neither script nor python3; lines are sent`);
    };
    try {
      return await runCommand(session, context.streams, started);
    } finally {
      disconnect?.();
      master.close();
    }
  },
});
