import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { isStarter, starters, withFurtherKeys } from "../../../client/command-line/starter-job.ts";
import { parseProperties } from "../../../src/hadoop/conf/xml.ts";
import { checkJob, lookUpLocalPath, readJob } from "../../../src/job/build/load-job.ts";

const exampleJobs = Object.entries(starters).map(([starter, example]): [string, string] => [
  starter,
  path.join("examples", example, "job.xml"),
]);

describe("the jobs that init writes", () => {
  test.each(exampleJobs)(
    "%s: says the same as the example, and its comments are keys that could be used",
    (_starter, file) => {
      const example = readFileSync(file, "utf8");
      const written = withFurtherKeys(example);
      const settings = (xml: string) => parseProperties(xml, file).map(({ name, value }) => [name, value]);
      expect(settings(written)).toEqual(settings(example));

      const commentedIn = written.replaceAll(/<!-- .*\n(\s*<property>.*<\/property>) -->/g, "$1");
      expect(settings(commentedIn).length).toBeGreaterThan(settings(example).length + 4);
      const text = readJob(
        { conf: [file] },
        {
          variables: { environment: { TONY_CONF_DIR: "examples" }, systemProperties: {} },
          readText: (name) => (name === file ? commentedIn : undefined),
        },
      );
      const { problems } = checkJob(text, { workingDirectory: process.cwd(), lookUp: lookUpLocalPath });
      expect(problems).toEqual([]);
    },
  );

  test("a key that the job sets is not offered again", () => {
    const xml = "<configuration><property><name>tony.yarn.queue</name><value>ml</value></property></configuration>";
    expect(withFurtherKeys(xml).match(/tony\.yarn\.queue/g)).toHaveLength(1);
  });

  test("a search is offered the retries of its trials, which the job's are not", () => {
    const written = withFurtherKeys("<configuration><!-- tony.search.metric --></configuration>");
    expect(written).toContain("tony.search.retry-count");
    expect(written).not.toContain("tony.am.retry-count");
  });

  test("names that are none are told apart", () => {
    expect(isStarter("pytorch")).toBe(true);
    expect(isStarter("toString")).toBe(false);
  });
});
