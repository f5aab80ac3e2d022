import path from "node:path";
import { generationFiles } from "../../src/job/launch/container-names.ts";

/** Of a socket's path (sun_path, unix(7)), without the NUL at its end. */
const MOST_PATH_BYTES = 107;

/** The folder of the container that the socket of that generation is in. */
export function socketFolder(workFolder: string, generation: number): string {
  return path.join(workFolder, generationFiles(generation).api);
}

/**
 * How the socket is reached by every process of the container. YARN's working directories alone are longer than a socket's path may be:
 * Linux leads there by the working directory of the process that has the folder for it.
 */
export function socketPath(workFolder: string, generation: number, pid: number): string {
  const whole = path.join(socketFolder(workFolder, generation), "socket");
  return Buffer.byteLength(whole) <= MOST_PATH_BYTES
    ? whole
    : path.join(`/proc/${pid}/cwd`, generationFiles(generation).api, "socket");
}
