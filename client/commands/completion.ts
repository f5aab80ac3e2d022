import path from "node:path";
import { ExitCode, usageError } from "../../src/errors.ts";
import { defineCommand } from "../command-line/command.ts";
import { completionScript } from "../command-line/completion.ts";

export const completion = defineCommand({
  verb: "completion",
  summary: "Print a completion script for bash or zsh: commands, options, running jobs and their tasks",
  positionals: { shell: { describe: "bash or zsh; default: the shell in $SHELL, else bash" } },
  options: {},
  examples: [
    ["completion bash", "In ~/.bashrc: source <(tony-ts completion bash)"],
    ["completion zsh", "In ~/.zshrc, after compinit: source <(tony-ts completion zsh)"],
  ],
  run: async ({ shell }, { output, environment }) => {
    const usual = path.basename(environment.SHELL ?? "") === "zsh" ? "zsh" : "bash";
    const chosen = shell ?? usual;
    if (chosen !== "bash" && chosen !== "zsh") throw usageError(`There is no completion for ${chosen}: bash, zsh`);
    output.preformatted(completionScript(chosen));
    return ExitCode.succeeded;
  },
});
