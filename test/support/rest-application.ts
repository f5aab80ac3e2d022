import type { ClusterStatus } from "./cluster.ts";
import { at, requestJson } from "./http-json.ts";

/**
 * Submits one shell command as an application's only container, over the ResourceManager's REST interface: a way to use
 * the cluster that shares no code with the product. The command never registers as a master, so its application fails
 * when it ends.
 * @returns the application's id
 */
export async function submitCommand(
  cluster: ClusterStatus,
  { user, command, queue = "default", memoryMiB = 256 }: SubmittedCommand,
): Promise<string> {
  const url = `${cluster.endpoints.resourceManager}/ws/v1/cluster/apps`;
  const created = await requestJson(`${url}/new-application`, { cluster, as: user, method: "POST" });
  const id = String(at(created.body, "application-id"));
  const body = {
    "application-id": id,
    "application-name": "one command",
    "application-type": "YARN",
    queue,
    "max-app-attempts": 1,
    "am-container-spec": { commands: { command }, environment: { entry: [] } },
    resource: { memory: memoryMiB, vCores: 1 },
  };
  const submitted = await requestJson(url, { cluster, as: user, method: "POST", body });
  if (submitted.status !== 202)
    throw new Error(`submission was answered ${submitted.status}: ${JSON.stringify(submitted.body)}`);
  return id;
}

export interface SubmittedCommand {
  readonly user: string;
  /** A command for bash; `<LOG_DIR>` stands for the container's log folder. */
  readonly command: string;
  readonly queue?: string;
  readonly memoryMiB?: number;
}

export interface ApplicationView {
  readonly state: string;
  readonly diagnostics: string;
}

/** The application as the ResourceManager reports it. */
export async function viewApplication(cluster: ClusterStatus, id: string): Promise<ApplicationView> {
  const answer = await requestJson(`${cluster.endpoints.resourceManager}/ws/v1/cluster/apps/${id}`, { cluster });
  return { state: String(at(answer.body, "app", "state")), diagnostics: String(at(answer.body, "app", "diagnostics")) };
}

/** Kills the application, as its user. */
export async function killApplication(cluster: ClusterStatus, id: string, user: string): Promise<void> {
  const url = `${cluster.endpoints.resourceManager}/ws/v1/cluster/apps/${id}/state`;
  await requestJson(url, { cluster, as: user, method: "PUT", body: { state: "KILLED" } });
}
