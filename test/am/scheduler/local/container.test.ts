import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type ContainerEnd, LocalContainer } from "../../../../am/scheduler/local/container.ts";
import { eventually } from "../../../support/eventually.ts";
import { isRunning } from "../../../support/processes.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const stopped: ContainerEnd = { exitStatus: -105, diagnostics: "stopped" };

describe("a container of this machine", () => {
  const folder = temporaryFolder();

  function made() {
    const ends: ContainerEnd[] = [];
    const node = { host: "127.0.0.1", port: 0, httpAddress: "" };
    const place = {
      folder: path.join(folder.path, "c1"),
      logFolder: path.join(folder.path, "logs"),
      user: "alice",
      node,
    };
    return { ends, container: new LocalContainer(place, (end) => ends.push(end)) };
  }

  const command = (words: string) => ({
    containerId: "container_1_0001_01_000002",
    environment: {},
    commands: [words],
    files: [],
    credentials: new Uint8Array(),
  });

  test("that is stopped while its files are being placed runs nothing, and ends once", async () => {
    const { ends, container } = made();
    const ran = path.join(folder.path, "ran");
    const place = async () => {
      container.stop(stopped);
      container.stop({ ...stopped, diagnostics: "stopped again" });
    };
    await container.start(command(`touch ${ran}`), { place });
    await eventually("its end", () => ends.length > 0);
    expect(ends).toEqual([stopped]);
    expect([existsSync(ran), existsSync(path.join(folder.path, "c1", "work"))]).toEqual([false, false]);
  });

  test("takes what its command has left behind along when that ends", async () => {
    const { ends, container } = made();
    const pid = path.join(folder.path, "pid");
    await container.start(command(`sleep 1000 & echo $! > ${pid}; exit 3`), { place: async () => undefined });
    await eventually("its end", () => ends.length > 0);
    expect(ends).toEqual([{ exitStatus: 3, diagnostics: "Exit code: 3" }]);
    const left = Number(readFileSync(pid, "utf8"));
    await eventually("the end of what was left", () => !isRunning(left));
  });
});
