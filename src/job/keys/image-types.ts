import { arrayOf, string } from "../shape.ts";
import { type KeyType, splitList } from "./types.ts";

/** DockerLinuxContainerRuntime.DOCKER_IMAGE_PATTERN, with a tag or a digest. */
const IMAGE = /^(?:[a-zA-Z0-9.-]+(?::\d+)?\/)?[a-z0-9_./-]+(?::[\w.-]+|@sha256:[0-9a-f]{64})?$/;
/** OCIContainerRuntime.USER_MOUNT_PATTERN, of characters that a launch script leaves as they are. */
const MOUNT = /^[\w./@+-]+:[\w./@+-]+(?::(?:r[ow]|(?:r[ow]\+)?r?(?:shared|slave|private)))?$/;

/** The name of an image as YARN takes it. */
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
export const mounts: KeyType<readonly string[]> = {
  label: "mounts",
  shape: arrayOf(string),
  parse: (text) => {
    const all = splitList(text);
    const wrong = all.find((mount) => !MOUNT.test(mount));
    if (wrong === undefined) return all;
    throw new RangeError(`a list of mounts such as /data:/data:ro, not "${wrong}"`);
  },
};
