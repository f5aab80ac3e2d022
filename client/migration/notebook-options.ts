import type { MigrationKind } from "../printed-json.ts";
import type { GivenOption, MigratedOption } from "./options.ts";

/** TonY runs the notebook in the ApplicationMaster's container; here it has one of its own. */
const ofContainer = /^tony\.am\.(memory|vcores|gpus|node-label|resources)=/;

/**
 * Migrates an option of TonY's notebooks that `tony-ts submit` would treat differently: `tony-ts notebook` starts
 * JupyterLab itself.
 * @param all of the command line
 */
export function migrateNotebookOption(option: GivenOption, all: readonly GivenOption[]): MigratedOption | undefined {
  const { name, text, typed, at } = option;
  const leftOut = (kind: MigrationKind, why: string): MigratedOption => {
    return { typed: [], remark: [{ kind, at, message: `${typed}: ${why}` }] };
  };
  if (name === "executes") {
    const isNamed = all.some((other) => other.name === "python_binary_path" || other.name === "python_venv");
    const starts = "tony-ts notebook starts JupyterLab itself, with the Python that --python_binary_path names";
    return isNamed
      ? leftOut("no-meaning", starts)
      : leftOut(
          "to-mend",
          `${starts}: give it, or ship one with --python_venv, if the nodes' python3 has no JupyterLab`,
        );
  }
  if (name === "task_params")
    return leftOut("no-meaning", "they are the parameters of the program that -executes names");
  if (name === "hdfs_classpath")
    return leftOut("to-mend", "a notebook takes no files of HDFS: name them in a job's file");
  if (name === "sidecar_tensorboard_log_dir") return leftOut("to-mend", "a notebook has no TensorBoard beside it");
  const [, property] = (name === "conf" && ofContainer.exec(text)) || [];
  if (property === undefined) return undefined;
  const [old, now] = [`tony.am.${property}`, `tony.notebook.${property}`];
  const message = `${old} becomes ${now}: it has a container of its own`;
  return { typed: [typed.replace(old, now)], remark: [{ kind: "changes", at, message }] };
}
