import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

/**
 * The images of docker/, built as Docker would build them but without Docker and without any image registry: the base is
 * a Debian made here by mmdebstrap, the builder is buildah.
 */
const run = promisify(execFile);
const CHECKOUT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const BUILD_MS = 600_000;

// Both tools make file systems that belong to root.
const describeAsRoot = process.getuid?.() === 0 ? describe : describe.skip;

describeAsRoot("the images", () => {
  let folder: string;

  async function buildah(...args: string[]): Promise<string> {
    const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
    const env = { ...process.env, BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs" };
    const { stdout } = await run("buildah", [...storage, ...args], { cwd: CHECKOUT, env, maxBuffer: 64 << 20 });
    return stdout.trim();
  }

  async function build(image: string): Promise<void> {
    const file = join("docker", image, "Dockerfile");
    await buildah("build", "--layers=false", "--build-arg", "BASE=localhost/base", "-t", image, "-f", file, ".");
  }

  async function runIn(image: string, script: string): Promise<string> {
    const container = await buildah("from", "--pull-never", `localhost/${image}`);
    try {
      return await buildah("run", container, "--", "bash", "-c", script);
    } finally {
      await buildah("rm", container);
    }
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tony-images-"));
    const rootfs = join(folder, "rootfs.tar");
    await run("mmdebstrap", [
      "--variant=minbase",
      "--include=ca-certificates",
      // What this machine trusts, where its way out is through a proxy of its own.
      "--customize-hook=copy-in /usr/local/share/ca-certificates /usr/local/share",
      '--customize-hook=chroot "$1" update-ca-certificates',
      `--customize-hook=upload ${process.execPath} /usr/local/bin/node`,
      '--customize-hook=chmod 755 "$1/usr/local/bin/node"',
      "bookworm",
      rootfs,
    ]);
    const container = await buildah("from", "scratch");
    await buildah("add", container, rootfs, "/");
    await buildah("commit", container, "base");
    await buildah("rm", container);
    await rm(rootfs);
  }, BUILD_MS);
  afterAll(async () => await rm(folder, { recursive: true, force: true }), BUILD_MS);

  test(
    "runtime has what a task's container needs",
    async () => {
      await build("runtime");
      const output = await runIn("runtime", "node --version; python3 --version; setsid --wait bash -c 'echo started'");
      expect(output.split("\n")).toEqual([process.version, expect.stringMatching(/^Python 3\./), "started"]);
    },
    BUILD_MS,
  );

  test(
    "hadoop starts the whole cluster, with nothing to fetch",
    async () => {
      await build("hadoop");
      const tool = "node scripts/cluster.mjs";
      const name = "--name from-image";
      const output = await runIn("hadoop", `${tool} up ${name} && ${tool} status --json ${name}; ${tool} down ${name}`);
      const status = JSON.parse(output);
      expect(status).toMatchObject({ up: true, state: "/var/lib/tony-ts/from-image" });
      expect(status.daemons.map(({ name, user }: { name: string; user: string }) => `${name} as ${user}`)).toEqual([
        "namenode as hdfs",
        "datanode as hdfs",
        "resourcemanager as yarn",
        "nm1 as yarn",
        "nm2 as yarn",
      ]);
    },
    BUILD_MS,
  );
});
