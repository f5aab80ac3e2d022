import { imageName, mounts } from "./image-types.ts";
import { key } from "./key.ts";
import { boolean, label, oneOf } from "./types.ts";

/** Containers in images, which YARN's NodeManagers run. */
export const imageKeys = {
  "tony.docker.enabled": key({
    type: boolean,
    default: "false",
    doc: "Run containers in images. NodeManagers must have the runtime (yarn.nodemanager.runtime.linux.allowed-runtimes); those without LinuxContainerExecutor run them outside of images, and say nothing.",
    support: "works",
  }),
  "tony.docker.runtime": key({
    type: oneOf("docker", "runc"),
    default: "docker",
    doc: "Which runtime of YARN's runs them.",
    support: "works",
    ours: true,
  }),
  "tony.docker.containers.image": key({
    type: imageName,
    doc: "The image of all containers, the ApplicationMaster's too: with bash, glibc, grep and what the programs need. Node travels with the job.",
    support: "works",
  }),
  "tony.docker.{role}.image": key({
    type: imageName,
    doc: "The image of one role, or of am, instead of that.",
    support: "works",
  }),
  "tony.docker.containers.mount": key({
    type: mounts,
    doc: "What of the nodes appears in them: SOURCE:DESTINATION:ro, comma-separated; the site allows which.",
    support: "works",
  }),
  "tony.docker.containers.network": key({
    type: label,
    doc: "Their network, of docker alone; default the site's. Tasks reach each other by the names of their nodes, as with host.",
    support: "works",
    ours: true,
  }),
  "tony.docker.containers.privileged": key({
    type: boolean,
    default: "false",
    doc: "Run them privileged, where the site allows you to.",
    support: "works",
    ours: true,
  }),
  "tony.docker.containers.delayed-removal": key({
    type: boolean,
    default: "false",
    doc: "Keep those of docker for a while after their end, to look into them, where the site allows it.",
    support: "works",
    ours: true,
  }),
} as const;
