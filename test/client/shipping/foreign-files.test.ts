import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { foreignFile } from "../../../client/shipping/foreign-files.ts";

const home = mkdtempSync(path.join(tmpdir(), "hadoop-"));
afterAll(() => rmSync(home, { recursive: true }));

/** A `hadoop` that runs this script. */
function hadoop(script: string): Record<string, string> {
  mkdirSync(path.join(home, "bin"), { recursive: true });
  const file = path.join(home, "bin", "hadoop");
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return { HADOOP_HOME: home, PATH: process.env.PATH ?? "" };
}

const url = "gs://bucket/env.tar.gz";
const ask = (environment: Record<string, string>, stated: Parameters<typeof foreignFile>[2]["stated"] = []) =>
  foreignFile(url, "job.xml:3: tony.containers.resources", { stated, environment });

test("what the job states of a file is taken", async () => {
  const facts = { url, sizeBytes: 5, modificationTimeMs: 7 };
  const other = { ...facts, url: `${url}.old`, sizeBytes: 9 };
  expect(await ask({}, [other, facts])).toEqual(facts);
});

test("else Hadoop's own client is asked, which may say other things as well", async () => {
  const environment = hadoop(
    `[ "$1 $2 $4" = "fs -stat ${url}" ] && echo WARN && echo "regular file,52428800,1718000000000"`,
  );
  expect(await ask(environment)).toEqual({ sizeBytes: 52_428_800, modificationTimeMs: 1_718_000_000_000 });
});

test.each([
  ["has no HADOOP_HOME", {}],
  ["has an empty one", { HADOOP_HOME: "" }],
])("the one on the PATH is asked where the environment %s, with that environment", async (_, changes) => {
  const { HADOOP_HOME: __, PATH } = hadoop('echo "regular file,$CONNECTOR_SIZE,7"');
  const environment = { PATH: `${home}/bin:${PATH}`, CONNECTOR_SIZE: "5", ...changes };
  expect(await ask(environment)).toEqual({ sizeBytes: 5, modificationTimeMs: 7 });
});

test("a folder is refused", async () => {
  await expect(ask(hadoop("echo directory,0,1"))).rejects.toMatchObject({
    code: "RESOURCE_UNREADABLE",
    message: `job.xml:3: tony.containers.resources names ${url}: it is a folder; name its files`,
  });
});

test("an answer that nobody understands is told", async () => {
  await expect(ask(hadoop("echo no file"))).rejects.toThrow(
    new Error(`job.xml:3: tony.containers.resources names ${url}: ${home}/bin/hadoop fs -stat printed "no file\\n"`),
  );
});

test("a client that fails without a word is told of as such", async () => {
  await expect(ask(hadoop("exit 1"))).rejects.toMatchObject({
    message: expect.stringMatching(/hadoop fs -stat says: Error: Command failed: .*\/bin\/hadoop fs -stat/),
    cause: expect.objectContaining({ code: 1 }),
  });
});

test("what Hadoop's client cannot find is told in its words, with what to do", async () => {
  await expect(ask(hadoop("echo 'stat: No FileSystem for scheme \"gs\"' >&2; exit 1"))).rejects.toThrow(
    /hadoop fs -stat says: stat: No FileSystem for scheme "gs"\. Set HADOOP_HOME .*tony\.application\.file-status/,
  );
});

test("without such a client the limit is told as one of tony-ts", async () => {
  await expect(ask({ PATH: home })).rejects.toThrow(
    /which tony-ts cannot find out itself, and there is no hadoop command here that could be asked/,
  );
});
