import { applicationArgument, settingOptions, taskArgument } from "../command-line/application-options.ts";
import { defineCommand } from "../command-line/command.ts";

export const exec = defineCommand({
  verb: "exec",
  summary: "Run a command in a task's container, beside its program",
  positionals: {
    application: applicationArgument,
    task: taskArgument,
  },
  options: { ...settingOptions },
  rest: {
    name: "command",
    describe: "The command and its arguments; no shell expands them",
    missing: "Which command? Give it after --: tony-ts exec <application> <task> -- nvidia-smi",
  },
  examples: [
    ["exec application_1795305600000_0007 worker:1 -- nvidia-smi", "In the program's folder, with its environment"],
    [
      "exec application_1795305600000_0007 worker:0 -- bash -c 'ps -ef | grep train'",
      "Let a shell in the container expand the command",
    ],
  ],
  run: async ({ application, task: name, conf }, context, words) => {
    const { connectTask } = await import("../sessions/named-tasks.ts");
    const { runCommand } = await import("../sessions/run-command.ts");
    const { passSignals } = await import("../sessions/pass-signals.ts");
    const { master, task } = await connectTask(application, name, conf, context);
    const session = master.openSession(task, { type: "command", words });
    const signals = passSignals(session);
    try {
      return await runCommand(session, context.streams, () => undefined);
    } catch (error) {
      const exitCode = signals.endedWith();
      if (exitCode === undefined) throw error;
      return exitCode;
    } finally {
      signals.stop();
      master.close();
    }
  },
});
