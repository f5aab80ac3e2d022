import { expect, test } from "@jest/globals";
import { hasErrors } from "../../src/job/problem.ts";
import { publicJobs } from "../fixtures/tony/public-jobs.ts";
import { check, saidAbout } from "./support.ts";

/** The program is the command line's in most of them: `-executes`. */
const started = { "tony.containers.command": "python3 mnist_distributed.py" };
const isRefused = (values: Readonly<Record<string, string>>) => hasErrors(check({ ...started, ...values }).problems);

test("of 25 public job files of TonY 22 are valid as they are; three have to be told the image that theirs leaves out", () => {
  const jobs = Object.entries(publicJobs);
  expect(jobs).toHaveLength(25);
  const refused = jobs.filter(([, values]) => isRefused(values));
  expect(refused.map(([where]) => where)).toEqual([
    "TonY README.md, with an image",
    "TonY docs/proposals/horovod-on-tony.md",
    "TonY README.md of 0.1.5, with an image",
  ]);
  for (const [, values] of refused) {
    expect(saidAbout({ ...started, ...values }).join("\n")).toMatch(
      /must be the name of an image .*not "YOUR_DOCKER_IMAGE_/,
    );
    const named = Object.entries(values).map(([key, value]) => [
      key,
      value.replace(/^YOUR_DOCKER\w+$/, "ml/train:1.4"),
    ]);
    expect(isRefused(Object.fromEntries(named))).toBe(false);
  }
});
