import { imageName, mounts } from "./image-types.ts";
import { key } from "./key.ts";
import { boolean, label, oneOf } from "./types.ts";

/** Containers in images, which YARN's NodeManagers run. */
export const imageKeys = {
  "tony.docker.enabled": key({
    type: boolean,
    default: "false",
    doc: "Run containers in images. NodeManagers must have the runtime (yarn.nodemanager.runtime.linux.allowed-runtimes); those without LinuxContainerExecutor silently run them outside of images.",
    support: "works",
  }),
  "tony.docker.runtime": key({
    type: oneOf("docker", "runc"),
    default: "docker",
    doc: "The YARN runtime that runs them.",
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
    doc: "Folders of the nodes that appear in them: SOURCE:DESTINATION:ro, comma-separated; the site decides which are allowed.",
    support: "works",
  }),
  "tony.docker.containers.network": key({
    type: label,
    doc: "Their network, for docker only; default the site's. Tasks reach each other by the names of their nodes, as with host.",
    support: "works",
    ours: true,
  }),
  "tony.docker.containers.privileged": key({
    type: boolean,
    default: "false",
    doc: "Run them privileged, if the site allows you to.",
    support: "works",
    ours: true,
  }),
  "tony.docker.containers.delayed-removal": key({
    type: boolean,
    default: "false",
    doc: "Keep docker containers for a while after their end, to inspect them, if the site allows it.",
    support: "works",
    ours: true,
  }),
} as const;
