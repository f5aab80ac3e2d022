import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { TonyTs, tonyTs } from "../support/tony-ts.ts";

function jobFile(command: string): string {
  return `<configuration>
<property><name>tony.application.name</name><value>local</value></property>
<property><name>tony.application.framework</name><value>standalone</value></property>
<property><name>tony.worker.instances</name><value>2</value></property>
<property><name>tony.worker.memory</name><value>512m</value></property>
<property><name>tony.worker.command</name><value>${command}</value></property>
</configuration>
`;
}

describe("a job on this machine, without any cluster", () => {
  let folder: string;
  let environment: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "cli-local-"));
    environment = { XDG_STATE_HOME: join(folder, "state"), HADOOP_HOME: "/nowhere" };
    await writeFile(join(folder, "hello.xml"), jobFile("echo hello"));
    await writeFile(join(folder, "long.xml"), jobFile("echo started; sleep 600"));
    await writeFile(join(folder, "stubborn.xml"), jobFile("trap '' TERM; echo started; sleep 600"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("without HADOOP_CONF_DIR a submission says what to set and offers the local scheduler", async () => {
    const { exitCode, stderr } = await tonyTs(["submit", "--conf", join(folder, "hello.xml")], environment);
    expect(stderr).toMatch(/HADOOP_CONF_DIR is not set[\s\S]*tony-ts submit --scheduler local --conf job\.xml/);
    expect(exitCode).toBe(2);
  });

  test("it runs to its end, and its state and logs stay", async () => {
    const submit = ["submit", "--scheduler", "local", "--conf", join(folder, "hello.xml"), "--logs", "all"];
    const { exitCode, stdout } = await tonyTs(submit, environment);
    expect(stdout).toMatch(/^local_\d+_\d{4} {2}local · on this machine · worker × 2/);
    expect(stdout).toMatch(/^worker:0 \| hello$/m);
    expect(stdout).toMatch(/^worker:1 \| hello$/m);
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0/);
    expect(exitCode).toBe(0);

    const [id = ""] = stdout.split(" ");
    const status = await tonyTs(["status", id, "--json"], environment);
    expect(JSON.parse(status.stdout)).toMatchObject({
      report: { state: "FINISHED", finalStatus: "SUCCEEDED" },
      status: { outcome: { result: "succeeded" } },
    });
    expect((await tonyTs(["logs", id, "worker:1"], environment)).stdout).toBe("hello\n");
    expect((await tonyTs(["list", "--scheduler", "local", "--all"], environment)).stdout).toContain(id);
  });

  test("a closed terminal leaves it running; another shell finds and ends it by its id", async () => {
    const submit = ["submit", "--scheduler", "local", "--conf", join(folder, "long.xml")];
    const running = new TonyTs(submit, environment);
    const [, id = ""] = await running.output(/^(local_\d+_\d{4}) [\s\S]*^worker:0 \| started$/m);
    running.process.kill("SIGHUP");
    await running.ended;
    const status = await tonyTs(["status", id], environment);
    expect(status.stdout).toMatch(/local · RUNNING · queue local/);
    expect((await tonyTs(["kill", id], environment)).stdout).toBe(
      `${id} KILLED; its processes have ended; its logs are kept for 7 days: tony-ts logs ${id}\n`,
    );
    const after = await tonyTs(["status", id], environment);
    expect(after.stdout).toMatch(/^KILLED {2}local_/);
  });

  test("the second Ctrl-C leaves at once and says that it may still run", async () => {
    const submit = ["submit", "--scheduler", "local", "--conf", join(folder, "stubborn.xml")];
    const running = new TonyTs(submit, environment);
    const [, id = ""] = await running.output(/^(local_\d+_\d{4}) [\s\S]*^worker:0 \| started$/m);
    running.process.kill("SIGINT");
    await running.output(/Ending the job/);
    running.process.kill("SIGINT");
    const { exitCode, stderr } = await running.ended;
    expect(stderr).toContain(`Left at once; ${id} may still run: tony-ts kill ${id}`);
    expect(exitCode).toBe(5);
    expect((await tonyTs(["kill", id], environment)).exitCode).toBe(0);
  });
});
