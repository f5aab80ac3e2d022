import { UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { localPortOption, parsePort } from "../command-line/option-values.ts";
import type { Destination } from "../sessions/forward.ts";

/** On a node that runs many tasks, a TensorBoard needs up to this time to load. */
const startMs = 120_000;

export const tensorboard = defineCommand({
  verb: "tensorboard",
  summary: "Forward a local port to a job's TensorBoard, until Ctrl-C or the end of the job",
  positionals: { application: applicationArgument },
  options: { ...localPortOption, ...settingOptions, ...jsonOption },
  examples: [["tensorboard application_1795305600000_0007", "Print the address to open in your browser"]],
  run: async ({ application, "local-port": localPort, conf, json }, context) => {
    const { forwardUntilEnd, leadsTo } = await import("../sessions/forward.ts");
    const options = {
      find: destinationOf,
      patience: {
        waitMs: ({ roles }: JobStatus) => (roles.some(({ name }) => name === "tensorboard") ? startMs : 0),
        missing: () => noTensorBoard(application),
      },
      show: (address: string, destination: Destination) => leadsTo(`http://${address}`, destination),
      localPort: localPort === undefined ? undefined : parsePort("--local-port", localPort),
      json,
      conf,
    };
    try {
      return await forwardUntilEnd(application, options, context);
    } catch (error) {
      throw errorCode(error) === "HAS_ENDED" ? endedWithJob(error) : error;
    }
  },
});

function destinationOf({ services }: JobStatus): Destination | undefined {
  const service = services.find(({ name }) => name === "tensorboard");
  return service === undefined ? undefined : { task: service.task, port: Number(new URL(service.url).port) };
}

function noTensorBoard(application: string): UserError {
  const mend =
    "set tony.application.tensorboard-log-dir, or start one in the program with --host $NM_HOST --port $TB_PORT";
  return new UserError(`${application} has no TensorBoard: nothing listens on the port that it has for one; ${mend}`, {
    code: "NO_TENSORBOARD",
  });
}

function endedWithJob(cause: unknown): UserError {
  const own = "a TensorBoard of your own shows what it has left: python3 -m tensorboard.main --logdir FOLDER";
  return new UserError(`${errorMessage(cause)}, and so has its TensorBoard; ${own}`, {
    code: "HAS_ENDED",
    cause,
    exitCode: 3,
  });
}
