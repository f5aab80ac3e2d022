import { spawn } from "node:child_process";
import { TonyError } from "../errors.ts";

/** Unpacks a tar archive, compressed or not, into a folder by the system's `tar`. Throws a TonyError with code `LOCALIZATION`. */
export function untar(archive: string, target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let complaint = "";
    const tar = spawn("tar", ["-xf", archive, "-C", target], { stdio: ["ignore", "ignore", "pipe"] });
    tar.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
    tar.on("error", (cause) => reject(new TonyError("tar could not be run", { code: "LOCALIZATION", cause })));
    tar.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new TonyError(`${archive} could not be unpacked: ${complaint.trim()}`, { code: "LOCALIZATION" }));
    });
  });
}
