import path from "node:path";
import { ownerOf, YARN_TEMPORARY } from "../../src/job/launch/container-names.ts";

/** Something in a container that nobody uploads, however a link leads there. */
export interface KeptBack {
  readonly why: string;
  /** Whether it may still be something of the job's. */
  readonly isLoss: boolean;
}

/** YARN's name for a container's folder, beside the folders of the application's other containers on the same node. */
const CONTAINER = /^container_/;

/**
 * Why a job may not store what lies at a place: tony-ts's and YARN's own files, including the tokens, of this container and of those
 * beside it, and every folder that contains containers.
 * @param real without links
 * @param workFolder the container's, without links
 */
export function keptBack(real: string, workFolder: string): KeptBack | undefined {
  const application = path.dirname(workFolder);
  if (isWithin(application, real)) {
    return { why: `the link leads to ${real}, in which containers have their secrets`, isLoss: true };
  }
  if (!isWithin(real, application)) return undefined;
  const [container = "", name = ""] = path.relative(application, real).split("/");
  const owner = name === YARN_TEMPORARY ? undefined : ownerOf(name);
  if (owner !== undefined) return { why: `it is a file of ${owner}'s own`, isLoss: false };
  const isOther = CONTAINER.test(container) && container !== path.basename(workFolder);
  return isOther ? { why: `the link leads to another container (${container})`, isLoss: true } : undefined;
}

function isWithin(place: string, folder: string): boolean {
  return place === folder || place.startsWith(folder === "/" ? "/" : `${folder}/`);
}
