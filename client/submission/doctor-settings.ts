import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { formatProblem, hasErrors, type Problem } from "../../src/job/problem.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Finding } from "../cluster/findings.ts";
import { type FolderLookUp, withFolderAddresses } from "./folder-addresses.ts";

/** Settings without meaning in the site's file and on the command line: with the defaults nothing else checks them. */
export function settingsFindings(problems: readonly Problem[]): Finding[] {
  return problems.map((problem): Finding => {
    return { subject: "settings", state: hasErrors([problem]) ? "wrong" : "remark", found: formatProblem(problem) };
  });
}

/** Whether jobs can write their history, where the site keeps one: a submission is refused where they cannot. */
export async function historyFindings(fileSystems: FolderLookUp, settings: JobSpec["history"]): Promise<Finding[]> {
  if (settings.location === undefined) return [];
  const subject = "history";
  try {
    const { history } = await withFolderAddresses({ history: settings, sources: {} }, fileSystems);
    return [{ subject, state: "well", found: `jobs can write to ${history.intermediate} (tony.history.location)` }];
  } catch (error) {
    const remedy = "let everybody write to its folder for running jobs (mode 1777), or name another in tony-site.xml";
    return [{ subject, state: "wrong", found: errorMessage(error), remedy }];
  }
}

/** NodeManagers count address space, and Python with CUDA, Node and the JVM reserve far more of it than they use. */
export function virtualMemoryFindings(configuration: Configuration): Finding[] {
  if (!configuration.getBoolean("yarn.nodemanager.vmem-check-enabled", true)) return [];
  const ratio = configuration.get("yarn.nodemanager.vmem-pmem-ratio");
  const found = `NodeManagers end containers that use more than ${ratio} times their memory as virtual memory, as far as the configuration here tells`;
  const remedy =
    "set yarn.nodemanager.vmem-check-enabled to false on the nodes: programs with CUDA or a JVM reserve far more than they use";
  return [{ subject: "memory", state: "remark", found, remedy }];
}
