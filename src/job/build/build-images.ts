import { keyFor } from "../keys.ts";
import type { ImageVariables } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

/** org.apache.hadoop.yarn.server.nodemanager.containermanager.runtime.ContainerRuntimeConstants.ENV_CONTAINER_TYPE */
const RUNTIME_TYPE = "YARN_CONTAINER_RUNTIME_TYPE";

/**
 * The variables that tell a NodeManager the image of a role's containers, or of the ApplicationMaster's (`am`), by the
 * names of DockerLinuxContainerRuntime and RuncContainerRuntime; undefined where they run in none.
 */
export function imageVariables(reader: Pick<JobReader, "read">, role: string): ImageVariables | undefined {
  if (!reader.read("tony.docker.enabled")) return undefined;
  const image = reader.read("tony.docker.{role}.image", { role }) ?? reader.read("tony.docker.containers.image");
  if (image === undefined) return undefined;
  const runtime = reader.read("tony.docker.runtime");
  const mounts = reader.read("tony.docker.containers.mount") ?? [];
  const network = reader.read("tony.docker.containers.network");
  const privileged = reader.read("tony.docker.containers.privileged");
  const own = (name: string) => `YARN_CONTAINER_RUNTIME_${runtime.toUpperCase()}_${name}`;
  return {
    [RUNTIME_TYPE]: runtime,
    [own("IMAGE")]: image,
    ...(mounts.length === 0 ? {} : { [own("MOUNTS")]: mounts.join(",") }),
    ...(privileged ? { [own("RUN_PRIVILEGED_CONTAINER")]: "true" } : {}),
    ...(runtime === "docker" && network !== undefined ? { [own("CONTAINER_NETWORK")]: network } : {}),
    ...(runtime === "docker" && reader.read("tony.docker.containers.delayed-removal")
      ? { [own("DELAYED_REMOVAL")]: "true" }
      : {}),
  };
}

/** Reports image settings that make no sense. */
export function checkImages(reader: JobReader, roles: readonly string[]): void {
  const enabled = reader.read("tony.docker.enabled");
  const imageOf = (role: string) => keyFor("tony.docker.{role}.image", { role });
  const named = [...roles, "am"].filter((role) => reader.has("tony.docker.{role}.image", { role }));
  const forAll = reader.has("tony.docker.containers.image");
  if (!enabled) {
    const keys = [...(forAll ? ["tony.docker.containers.image"] : []), ...named.map(imageOf)];
    for (const key of keys.filter((one) => reader.settings.get(one)?.layer !== "site")) {
      reader.warn(key, "has no effect: set tony.docker.enabled to true");
    }
    return;
  }
  if (!forAll && named.length === 0) {
    reader.error("tony.docker.enabled", "= true names no image: set tony.docker.containers.image");
  } else if (!forAll) {
    for (const role of roles.filter((one) => !named.includes(one))) {
      reader.warn(
        "tony.docker.enabled",
        `= true, but a ${role} runs outside of any image: ${imageOf(role)} is not set`,
      );
    }
  }
  if (reader.read("tony.docker.runtime") === "docker") {
    const network = reader.read("tony.docker.containers.network") ?? "host";
    if (network !== "host") {
      reader.warn(
        "tony.docker.containers.network",
        `= ${network}: tasks and the ApplicationMaster reach each other by their nodes' names, at which containers of that network may be unreachable`,
      );
    }
  } else {
    for (const key of ["tony.docker.containers.network", "tony.docker.containers.delayed-removal"] as const) {
      if (reader.has(key)) reader.warn(key, "has no effect with tony.docker.runtime = runc");
    }
  }
}
