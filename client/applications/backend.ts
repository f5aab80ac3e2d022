import { currentUser } from "../../src/hadoop/security/user.ts";
import { usageError } from "../command-line/command.ts";
import type { ClientContext } from "../context.ts";
import type { Applications } from "./applications.ts";
import { isLocalId } from "./local-folder.ts";

/** `--conf KEY=VALUE` of the verbs that take an application: where its staging folder is, when that is not the default. */
export const placeOptions = {
  conf: {
    type: "string",
    array: true,
    describe: "A setting, such as tony.staging-dir=/shared/staging; may be repeated",
  },
} as const;

/** The argument of the verbs about one job. */
export const applicationArgument = {
  describe: "application_… or local_…",
  required: true,
  missing: "Which job? Give its id (tony-ts list)",
} as const;

/** Opens what knows the application: this machine or the cluster, by the form of its id. */
export async function openApplications(
  id: string,
  settings: readonly string[] | undefined,
  context: ClientContext,
): Promise<Applications> {
  checkId(id);
  return isLocalId(id) ? await openLocalApplications(context) : await openYarnApplications(settings, context);
}

/** @throws UserError when it has not the form of an id */
export function checkId(id: string): void {
  if (isLocalId(id) || /^application_\d+_\d+$/.test(id)) return;
  throw usageError(
    `"${id}" is not an application's id; they look like application_1795305600000_0001 or local_1795305600000_0001`,
  );
}

/** The applications of the cluster that the environment names. */
export async function openYarnApplications(
  settings: readonly string[] | undefined,
  context: ClientContext,
): Promise<Applications> {
  const [{ Cluster }, { YarnApplications }, { readPlace }] = await Promise.all([
    import("../cluster/cluster.ts"),
    import("./yarn-applications.ts"),
    import("../submission/place.ts"),
  ]);
  const { stagingDir, hadoop, gateway } = readPlace(settings ?? [], context);
  return new YarnApplications(new Cluster(context, { hadoop, gateway }), stagingDir, context.now);
}

/** The applications of this machine's local scheduler. */
export async function openLocalApplications({ environment, now }: ClientContext): Promise<Applications> {
  const { LocalApplications } = await import("./local-applications.ts");
  return new LocalApplications(environment, currentUser(environment).name, now);
}
