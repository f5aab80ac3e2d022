import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
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

  describe("has in its environment", () => {
    const { TZ: zone, TONY_TEST_SECRET: secret } = process.env;
    afterEach(() => {
      for (const [name, value] of Object.entries({ TZ: zone, TONY_TEST_SECRET: secret }))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    });

    test("what a NodeManager passes on and says itself, whatever its launch says, and nothing else of this process", async () => {
      process.env.TZ = "Asia/Tokyo";
      process.env.TONY_TEST_SECRET = "hush";
      const { ends, container } = made();
      const given = { PATHS: "<LOG_DIR>/a<CPS>{{HOME}}/b", CONTAINER_ID: "another", NM_PORT: "7" };
      const [seen, tokens] = [path.join(folder.path, "seen"), path.join(folder.path, "tokens")];
      const script = `env > ${seen}; stat -c %a $HADOOP_TOKEN_FILE_LOCATION > ${tokens}`;
      await container.start({ ...command(script), environment: given }, { place: async () => undefined });
      await eventually("its end", () => ends.length > 0);
      const lines = readFileSync(seen, "utf8").split("\n");
      expect(lines).toEqual(
        expect.arrayContaining([
          "TZ=Asia/Tokyo",
          `PATHS=${path.join(folder.path, "logs")}/a:${process.env.HOME}/b`,
          "CONTAINER_ID=container_1_0001_01_000002",
          "NM_HOST=127.0.0.1",
          "NM_PORT=0",
        ]),
      );
      expect(lines.filter((line) => line.includes("hush"))).toEqual([]);
      expect(readFileSync(tokens, "utf8")).toBe("600\n");
    });
  });
});
