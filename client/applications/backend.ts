import { usageError } from "../../src/errors.ts";
import { ownerName } from "../../src/hadoop/process-owner.ts";
import type { ClientContext } from "../context.ts";
import type { Applications } from "./applications.ts";
import { isLocalId } from "./local-folder.ts";

/** Opens the source that knows the application, this machine or the cluster, by the form of the id. */
export async function openApplications(
  id: string,
  settings: readonly string[] | undefined,
  context: ClientContext,
): Promise<Applications> {
  checkId(id);
  return isLocalId(id) ? await openLocalApplications(context) : await openYarnApplications(settings, context);
}

/** Opens the source that knows jobs by name: the cluster, or this machine where no cluster is configured. */
export async function openByName(
  settings: readonly string[] | undefined,
  context: ClientContext,
): Promise<Applications> {
  const { configurationFolder } = await import("../cluster/hadoop-configuration.ts");
  const hasCluster = configurationFolder(context.environment) !== undefined;
  return hasCluster ? await openYarnApplications(settings, context) : await openLocalApplications(context);
}

/** Whether the text has the form of an application id. YARN writes the number with at least four digits: a shorter one was cut off. */
export function isApplicationId(text: string): boolean {
  return isLocalId(text) || /^application_\d+_\d{4,}$/.test(text);
}

/** @throws UserError when the text does not have the form of an id */
export function checkId(id: string): void {
  if (isApplicationId(id)) return;
  throw usageError(
    `"${id}" is not an application's id; they look like application_1795305600000_0001 or local_1795305600000_0001`,
  );
}

/** The applications of the cluster that the environment names. */
export async function openYarnApplications(
  settings: readonly string[] | undefined,
  context: ClientContext,
): Promise<Applications> {
  const [{ Cluster }, { YarnApplications }, { readSiteSettings }] = await Promise.all([
    import("../cluster/cluster.ts"),
    import("./yarn-applications.ts"),
    import("../cluster/site-settings.ts"),
  ]);
  const { stagingDir, ...options } = readSiteSettings(settings ?? [], context);
  return new YarnApplications(await Cluster.open(context, options), stagingDir, context.now);
}

/** The applications of this machine's local scheduler. */
export async function openLocalApplications({ environment, now }: ClientContext): Promise<Applications> {
  const { LocalApplications } = await import("./local-applications.ts");
  return new LocalApplications(environment, ownerName(), now);
}
