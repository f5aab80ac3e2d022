import { arrayOf, string } from "../shape.ts";
import { key } from "./key.ts";
import { boolean, type KeyType, label, oneOf, splitList } from "./types.ts";

/** DockerLinuxContainerRuntime.DOCKER_IMAGE_PATTERN, with a tag or a digest. */
const IMAGE = /^(?:[a-zA-Z0-9.-]+(?::\d+)?\/)?[a-z0-9_./-]+(?::[\w.-]+|@sha256:[0-9a-f]{64})?$/;
/** OCIContainerRuntime.USER_MOUNT_PATTERN, limited to characters that a launch script does not change. */
const MOUNT = /^[\w./@+-]+:[\w./@+-]+(?::(?:r[ow]|(?:r[ow]\+)?r?(?:shared|slave|private)))?$/;

/** The name of an image in YARN's format. */
export const imageName: KeyType<string> = {
  label: "image",
  shape: string,
  parse: (text) => {
    const image = text.trim();
    if (IMAGE.test(image)) return image;
    throw new RangeError(`the name of an image such as registry:5000/ml/train:1.4, not "${image}"`);
  },
};

/** `/data:/data:ro`, separated by commas. */
const mounts: KeyType<readonly string[]> = {
  label: "mounts",
  shape: arrayOf(string),
  parse: (text) => {
    const all = splitList(text);
    const wrong = all.find((mount) => !MOUNT.test(mount));
    if (wrong === undefined) return all;
    throw new RangeError(`a list of mounts such as /data:/data:ro, not "${wrong}"`);
  },
};

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
    doc: "The image of all containers, including the ApplicationMaster's; it needs bash, glibc, grep and what the programs use. The job ships Node.",
    support: "works",
  }),
  "tony.docker.{role}.image": key({
    type: imageName,
    doc: "The image of one role, or of am, instead of tony.docker.containers.image.",
    support: "works",
  }),
  "tony.docker.containers.mount": key({
    type: mounts,
    doc: "Folders of the nodes that are mounted in the containers: SOURCE:DESTINATION:ro, comma-separated; the site decides which are allowed.",
    support: "works",
  }),
  "tony.docker.containers.network": key({
    type: label,
    doc: "The containers' network, for docker only; default the site's. Tasks must be reachable by their nodes' names, as with host.",
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
