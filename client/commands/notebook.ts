import { randomBytes } from "node:crypto";
import { UserError, usageError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import { optionalDuration } from "../../src/job/keys/types.ts";
import { defineCommand } from "../command-line/command.ts";
import { jobOptions, submissionOptions } from "../command-line/job-options.ts";
import { localPortOption, parsePort } from "../command-line/option-values.ts";
import type { ClientContext } from "../context.ts";

/** JupyterLab's own variable, in this process, and as a secret of the program. */
const tokenVariable = "JUPYTER_TOKEN";

export const notebook = defineCommand({
  verb: "notebook",
  summary: "Run JupyterLab in a container, and forward a local port to it",
  positionals: {},
  options: {
    conf: {
      type: "string",
      array: true,
      describe: "A setting, such as tony.notebook.memory=8g, or a file of settings; may be repeated",
    },
    src_dir: jobOptions.src_dir,
    python_venv: jobOptions.python_venv,
    python_binary_path: {
      type: "string",
      describe: "The Python that has JupyterLab: an absolute path, or a path inside python_venv; default python3",
    },
    shell_env: jobOptions.shell_env,
    container_env: jobOptions.container_env,
    name: { type: "string", default: "notebook", describe: "The job's name" },
    idle: {
      type: "string",
      default: "1h",
      describe: "End when no kernel has run for this long; 0: never",
    },
    ...localPortOption,
  },
  examples: [
    ["notebook", "Print the address to open in your browser; Ctrl-C ends the job"],
    ["notebook --python_venv venv.tar.gz --python_binary_path bin/python3", "Use your own environment"],
    ["notebook -conf tony.notebook.memory=16g -conf tony.notebook.gpus=1 --idle 4h", "In a larger container"],
  ],
  run: async ({ idle, "local-port": port, ...given }, context) => {
    const idleMs = parseIdle(idle);
    const localPort = port === undefined ? undefined : parsePort("--local-port", port);
    const token = tokenFor(context);
    const [{ readJobText }, { notebookSettings }, { runNotebook }] = await Promise.all([
      import("../command-line/read-job.ts"),
      import("../sessions/notebook-job.ts"),
      import("../submission/notebook.ts"),
    ]);
    const options = { ...submissionOptions(given), secrets: [`${tokenVariable}=env:${tokenVariable}`] };
    const { settings } = await readJobText(options, context);
    const interpreter = readSetting(settings, "tony.python-exec-path") ?? "python3";
    const text = await readJobText(
      { ...options, properties: notebookSettings(interpreter, idleMs), propertiesAt: "tony-ts notebook" },
      context,
    );
    const environment = { ...context.environment, [tokenVariable]: token };
    return await runNotebook(text, { token, localPort }, { ...context, environment });
  },
});

/** @throws UserError where nobody could see a new token */
function tokenFor({ environment, output }: ClientContext): string {
  const own = environment.JUPYTER_TOKEN ?? "";
  if (own !== "") return own;
  if (output.isTerminal) return randomBytes(24).toString("hex");
  const message = `There is no terminal here to show a new token: set one in the environment, as ${tokenVariable}`;
  throw new UserError(message, { code: "NO_TOKEN" });
}

function parseIdle(text: string): number | undefined {
  try {
    return optionalDuration("s").parse(text);
  } catch (error) {
    throw usageError(`--idle must be ${errorMessage(error)}`);
  }
}
