import { shipOption } from "../../src/job/build/submission.ts";
import { BUNDLES, PAGE_NAME } from "../../src/job/launch/container-names.ts";
import type { FileToShip, JobSpec } from "../../src/job/spec.ts";
import { type ContainerProgram, type ProgramName, pagePath, programPath } from "../../src/programs.ts";
import { codeCacheOf } from "../../src/start/cache-files.ts";
import type { ProvidedRuntime } from "../shipping/runtime.ts";
import type { ShipItem } from "../shipping/shipping.ts";

/** The files that are sent with a job, by the containers that get them. */
export interface ShippingPlan {
  /** The AM's files: fetching and unpacking delays its start, so it gets the tasks' files only if a task runs in its container. */
  readonly master: readonly ShipItem[];
  /** Files for every task. */
  readonly all: readonly ShipItem[];
  /** Further files for one role. */
  readonly byRole: Readonly<Record<string, readonly ShipItem[]>>;
}

/**
 * @param optional files that options of the command line add for every task
 * @param forLogin what the ApplicationMaster needs to log in itself
 */
export function shippingPlan(
  spec: JobSpec,
  { items: runtime, codeCaches = {} }: Pick<ProvidedRuntime, "items" | "codeCaches">,
  optional: readonly FileToShip[] = [],
  forLogin: readonly ShipItem[] = [],
): ShippingPlan {
  const all = [...runtime, ...program("executor"), ...named(spec.files, "tony.containers.resources")];
  const ofTasks = spec.roles.some(({ inMaster }) => inMaster === true) ? all : runtime;
  return {
    master: [
      ...ofTasks,
      ...program("am"),
      ...(spec.am.page !== false ? [pageItem()] : []),
      ...forLogin,
      ...named(spec.am.files, "tony.am.resources"),
    ],
    all,
    byRole: Object.fromEntries(spec.roles.map(({ name, files }) => [name, named(files, `tony.${name}.resources`)])),
  };

  function program(name: ContainerProgram): ShipItem[] {
    const item = programItem(name);
    const source = codeCaches[name];
    return source === undefined ? [item] : [item, { ...item, link: codeCacheOf(item.link), source }];
  }

  function named(files: readonly FileToShip[], key: string): ShipItem[] {
    const at = spec.sources[key];
    const namedByKey = at === undefined ? key : `${at}: ${key}`;
    return files.map(({ name, source, as }) => {
      const isOptional = optional.some((option) => option.name === name && option.source === source);
      return { link: name, source, as, namedBy: isOptional ? shipOption(as) : namedByKey };
    });
  }
}

/** One of our own programs. */
export function programItem(
  name: ContainerProgram | "tokens",
  programOf: (name: ProgramName) => string = programPath,
): ShipItem {
  return { link: BUNDLES[name], source: programOf(name), as: "file", shared: true };
}

/** The page that the job's ApplicationMaster serves. */
function pageItem(): ShipItem {
  return { link: PAGE_NAME, source: pagePath(), as: "file", shared: true };
}

/** All items, each once. */
export function itemsOf({ master, all, byRole }: ShippingPlan): ShipItem[] {
  return [...new Set([...master, ...all, ...Object.values(byRole).flat()])];
}
