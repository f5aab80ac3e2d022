import { describe, expect, test } from "@jest/globals";
import { check, minimalJob, saidAbout } from "../support.ts";

const horovod = { ...minimalJob, "tony.application.framework": "Horovod" };
const DEBUG = "tony.horovod.driver.mode.debug";

describe("a driver of Horovod's that is set by hand", () => {
  test("is refused where each of its keys stands, as in TonY", () => {
    expect(saidAbout({ ...horovod, "tony.driver.instances": "1", "tony.driver.command": "python3 driver.py" })).toEqual(
      [
        "job.xml:4: tony.driver.instances sets a driver of Horovod, which has none here: the executor of rank 0 serves the rendezvous; take it out",
        "job.xml:5: tony.driver.command sets a driver of Horovod, which has none here: the executor of rank 0 serves the rendezvous; take it out",
      ],
    );
  });

  test("is left out with a warning where TonY runs it: no task waits for workers that never ask", () => {
    const debugged = {
      ...horovod,
      "tony.driver.instances": "1",
      "tony.driver.command": "python3 driver.py",
      [DEBUG]: "true",
    };
    const { spec, problems } = check(debugged);
    expect(spec?.roles.map(({ name }) => name)).toEqual(["worker"]);
    expect(problems.map(({ severity, key }) => `${severity} ${key}`)).toEqual([
      `warning ${DEBUG}`,
      "warning tony.driver.instances",
      "warning tony.driver.command",
    ]);
  });

  test("is a role as any other in jobs of other frameworks", () => {
    expect(saidAbout({ ...minimalJob, "tony.driver.instances": "1" })).toEqual([]);
  });
});
