import path from "node:path/posix";
import { UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { MANIFEST, parseCarriedName, UNFINISHED } from "../../src/job/stored/carried-names.ts";
import { latestOfJob, latestWhole, wholeOrEarlier } from "../../src/job/stored/stored-checkpoints.ts";
import type { CheckpointLookUp } from "../results/latest-stored.ts";

type Resuming = Pick<JobSpec, "resumeFrom" | "carrier" | "sources">;

const KEY = "tony.application.resume-from";

/**
 * The job with an intact checkpoint to begin with: where executors stored one that is damaged, the previous one of the same task, with a
 * remark. A checkpoint that only the program can reach is left to it.
 * @throws UserError (`NO_CHECKPOINT`) for an incomplete upload, and for a folder of checkpoints
 */
export async function withWholeCheckpoint<Spec extends Resuming>(
  spec: Spec,
  fileSystems: CheckpointLookUp,
  tell: (words: string) => void,
): Promise<Spec> {
  const { resumeFrom, carrier, sources } = spec;
  if (resumeFrom === undefined) return spec;
  const parts = resumeFrom.split("/");
  if (parts.some((part) => part.startsWith(UNFINISHED)))
    throw refusal("it is an upload that did not end, and has a part of a checkpoint: name a complete one, step-…");
  const located = splitUri(resumeFrom) === undefined ? undefined : ifLocated(resumeFrom, fileSystems);
  if (located === undefined) return spec;
  const { fileSystem, path: place } = located;
  const above = parts.findIndex((part, index) => index < parts.length - 1 && parseCarriedName(part) !== undefined);
  if (carrier?.checkpoints !== undefined && above > 0)
    throw refusal(`it is a part of a checkpoint: name ${parts.slice(0, above + 1).join("/")}`);
  if (parseCarriedName(path.basename(place)) === undefined) {
    const latest = (await latestWhole(fileSystem, place)) ?? (await latestOfJob(fileSystem, place));
    if (latest === undefined) return spec;
    throw refusal(`it is a folder of checkpoints: name one of them, such as ${fileSystem.uri}${latest.path}`);
  }
  if (carrier?.checkpoints === undefined && !(await hasList(fileSystem, place))) return spec;
  let damage = "";
  const whole = await wholeOrEarlier(fileSystem, place, (_, why) => {
    damage = why;
  }).catch((error: unknown) => {
    throw isDamage(error)
      ? refusal(`it is damaged, and no earlier one of its task is whole: ${errorMessage(error)}`)
      : error;
  });
  if (whole.path === place) return spec;
  const address = `${fileSystem.uri}${whole.path}`;
  tell(`${resumeFrom} is damaged (${damage}): the job begins with ${address}`);
  return { ...spec, resumeFrom: address };

  function refusal(why: string): UserError {
    const at = sources[KEY];
    return new UserError(`${KEY} = ${resumeFrom}${at === undefined ? "" : ` (${at})`}: ${why}`, {
      code: "NO_CHECKPOINT",
    });
  }
}

function isDamage(error: unknown): boolean {
  return errorCode(error) === "CHECKPOINT_DAMAGED" || errorCode(error) === "FILE_NOT_FOUND";
}

async function hasList(fileSystem: Pick<FileSystem, "list">, place: string): Promise<boolean> {
  const entries = await listIfThere(fileSystem, place);
  return entries.some((entry) => path.basename(entry.path) === MANIFEST);
}

function ifLocated(address: string, fileSystems: CheckpointLookUp): ReturnType<CheckpointLookUp["locate"]> | undefined {
  try {
    const located = fileSystems.locate(address);
    return located.fileSystem.uri.startsWith("file:") ? undefined : located;
  } catch {
    return undefined;
  }
}
