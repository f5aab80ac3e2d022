import type { FailureClass } from "../../../src/job/status.ts";

/** What a container's exit status says (org.apache.hadoop.yarn.api.records.ContainerExitStatus). */
export interface ExitMeaning {
  readonly class: FailureClass;
  /** The machine may be at fault. */
  readonly machine: boolean;
  readonly words: string;
  /** Which of YARN's two limits the container exceeded. */
  readonly memory?: "physical" | "virtual";
}

const KNOWN: Readonly<Record<string, ExitMeaning>> = {
  "-1000": { class: "infrastructure", machine: true, words: "could not be given its files" },
  "-101": { class: "infrastructure", machine: true, words: "lost its container: the node's disks failed" },
  "-102": { class: "infrastructure", machine: false, words: "was preempted by the ResourceManager" },
  "-103": { class: "program", machine: false, words: "used more virtual memory than YARN allows", memory: "virtual" },
  "-104": { class: "program", machine: false, words: "ran out of memory", memory: "physical" },
  "-106": { class: "infrastructure", machine: false, words: "lost its container: the ResourceManager ended it" },
  "-108": { class: "infrastructure", machine: false, words: "lost its container: the node's scheduler ended it" },
  "-109": { class: "program", machine: false, words: "wrote more logs than YARN allows" },
};

/**
 * The meaning of a container that ended without our doing. −100 has three causes: released by us (looked up by the caller first), an
 * allocation never started in time, and a lost node; only YARN's words tell the last two apart.
 */
export function exitMeaning(exitStatus: number, words: readonly string[]): ExitMeaning {
  const known = KNOWN[String(exitStatus)];
  if (known !== undefined) {
    return known;
  }
  if (exitStatus === -100) {
    return words.some((line) => /expired/i.test(line))
      ? { class: "infrastructure", machine: false, words: "lost its container: it was not started in time" }
      : { class: "infrastructure", machine: true, words: "lost its node" };
  }
  if (exitStatus === 137 || exitStatus === 143) {
    return { class: "infrastructure", machine: true, words: "lost its container: it was killed from outside" };
  }
  return { class: "infrastructure", machine: true, words: `lost its executor (container exit ${exitStatus})` };
}
