import { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { ownerName } from "../../src/hadoop/process-owner.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { currentUser } from "../../src/hadoop/security/user.ts";
import type { Resource } from "../../src/hadoop/yarn/records.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { gpusOf } from "../../src/job/gpus.ts";
import { keyProblem, type Problem, refusedJob } from "../../src/job/problem.ts";
import { countWords, memoryWords } from "../../src/job/reasons/words.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { type Machine, thisMachine } from "../../src/machine.ts";
import type { ClientContext } from "../context.ts";
import { type FeedInputs, findFeedInputs } from "./feed-inputs.ts";
import { withFolderAddresses } from "./folder-addresses.ts";
import { withWholeCheckpoint } from "./resume-check.ts";

/** A resource that a machine has and a job asks for. */
interface Kind {
  /** The last part of a role's key for it. */
  readonly key: "memory" | "vcores" | "gpus";
  readonly of: (resource: Resource) => number;
  readonly has: number;
  readonly words: (amount: number) => string;
  /** Whether all tasks' requests are added up. Cores are not: a job of several tasks runs on a laptop. */
  readonly addedUp: boolean;
}

/**
 * All that can be checked about a job on this machine. Nothing is started or written.
 * @param draft the same job as `checkOffline` returned it
 * @throws UserError (`CLUSTER_REFUSES`) for a job that this machine can never run
 */
export async function checkOnMachine(
  text: JobText,
  draft: JobSpec,
  environment: ClientContext["environment"],
): Promise<{ readonly spec: JobSpec; readonly user: string; readonly feeds: FeedInputs["feeds"] }> {
  const refusals = checkAgainstMachine(draft, thisMachine({ ...environment, ...draft.containerEnvironment }));
  if (refusals.length > 0) throw refusedJob(refusals);
  const user = currentUser(environment, ownerName).name;
  const configuration = new Configuration().withValues(text.hadoop);
  const fileSystems = new FileSystems({ configuration, credentials: simpleCredentials({ name: user }) });
  const addressed = await withFolderAddresses(draft, fileSystems);
  const { feeds, problems } = await findFeedInputs(addressed, fileSystems);
  if (problems.length > 0) throw refusedJob(problems);
  return { spec: await withWholeCheckpoint(addressed, fileSystems, () => undefined), user, feeds };
}

/** Requests that this machine can never satisfy, however long the job waits. */
export function checkAgainstMachine(spec: JobSpec, machine: Machine): Problem[] {
  const kinds = kindsOf(machine, spec.gpuTypes);
  const single = [
    ...inImages(spec),
    ...spec.roles.flatMap((role) => kinds.flatMap((kind) => tooLarge(spec, role, kind))),
  ];
  return single.length > 0 || spec.distributedMode !== "gang" ? single : kinds.flatMap((kind) => tooMany(spec, kind));
}

/** YARN's nodes have a runtime for images; here programs would run outside of them. */
function inImages(spec: JobSpec): Problem[] {
  if (spec.am.image === undefined && spec.roles.every(({ image }) => image === undefined)) return [];
  const key = "tony.docker.enabled";
  return [keyProblem("error", spec, key, `${key} needs YARN: this machine runs programs outside of images`)];
}

function kindsOf({ memoryMiB, vcores, gpus }: Machine, gpuTypes: readonly string[]): Kind[] {
  return [
    { key: "memory", of: (resource) => resource.memoryMiB, has: memoryMiB, words: ofMemory, addedUp: true },
    {
      key: "vcores",
      of: (resource) => resource.vcores,
      has: vcores,
      words: (n) => countWords(n, "core"),
      addedUp: false,
    },
    {
      key: "gpus",
      of: ({ others }) => gpusOf(others, gpuTypes),
      has: gpus.length,
      words: (n) => countWords(n, "GPU"),
      addedUp: true,
    },
  ];
}

function ofMemory(memoryMiB: number): string {
  return `${memoryWords(memoryMiB)} of memory`;
}

function tooLarge(spec: JobSpec, { name, resource }: RoleSpec, { key, of, has, words }: Kind): Problem[] {
  if (of(resource) <= has) return [];
  const lower = `tony.${name}.${key}`;
  return [
    keyProblem(
      "error",
      spec,
      lower,
      `a ${name} asks for ${words(of(resource))}, this machine has ${words(has)}: lower ${lower}`,
    ),
  ];
}

function tooMany(spec: JobSpec, { key, of, has, words, addedUp }: Kind): Problem[] {
  const wanted = spec.roles.reduce((sum, { instances, resource }) => sum + instances * of(resource), 0);
  const most = spec.roles.toSorted((a, b) => b.instances * of(b.resource) - a.instances * of(a.resource))[0];
  if (!addedUp || wanted <= has || most === undefined) return [];
  const lower = `tony.${most.name}.instances`;
  const mend = `lower ${lower} or tony.${most.name}.${key}`;
  return [
    keyProblem(
      "error",
      spec,
      lower,
      `the tasks ask for ${words(wanted)} together, this machine has ${words(has)}: ${mend}`,
    ),
  ];
}
