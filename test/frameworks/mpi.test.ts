import { describe, expect, test } from "@jest/globals";
import { taskProgram } from "../../src/frameworks/task-program.ts";
import { formatProblem } from "../../src/job/problem.ts";
import { check } from "../job/support.ts";
import { jobOf, startOf } from "./support.ts";

const mpi = {
  "tony.application.framework": "mpi",
  "tony.application.untracked.jobtypes": "worker,big",
  "tony.worker.processes": "2",
};

describe("MPI's launcher", () => {
  const spec = jobOf({ launcher: 1, worker: 2, big: 1 }, { ...mpi, "tony.big.processes": "8" });
  const program = (task: string, inherited = {}) =>
    taskProgram(inherited, { ...startOf(spec, task), hostsFolder: "/container/hosts" });

  test("has every other task for a host, with as many slots as the role has processes", () => {
    const { hosts } = program("launcher:0");
    expect(Object.fromEntries(hosts?.tasks ?? [])).toEqual({
      "worker-0": "worker:0",
      "worker-1": "worker:1",
      "big-0": "big:0",
    });
    expect(hosts?.folderVariables).toEqual([
      "HOME",
      "OMPI_MCA_btl_sm_backing_directory",
      "OMPI_MCA_btl_vader_backing_directory",
    ]);
    expect(hosts?.files).toEqual({ hostfile: "worker-0 slots=2\nworker-1 slots=2\nbig-0 slots=8\n" });
  });

  test("has no sidecar for a host", () => {
    const keys = { ...mpi, "tony.application.sidecar.jobtypes": "tensorboard" };
    const beside = jobOf({ launcher: 1, worker: 1, tensorboard: 1 }, keys);
    const { hosts } = taskProgram({}, { ...startOf(beside, "launcher:0"), hostsFolder: "/container/hosts" });
    expect([...(hosts?.tasks.keys() ?? [])]).toEqual(["worker-0"]);
  });

  test("finds ssh first on its path, and mpirun finds the hosts", () => {
    expect(program("launcher:0", { PATH: "/usr/bin" }).environments[0]).toMatchObject({
      PATH: "/container/hosts:/usr/bin",
      TONY_HOSTFILE: "/container/hosts/hostfile",
      OMPI_MCA_orte_default_hostfile: "/container/hosts/hostfile",
      PRTE_MCA_prte_default_hostfile: "/container/hosts/hostfile",
      // Only the launcher's container has the command ssh.
      OMPI_MCA_plm_rsh_no_tree_spawn: "1",
      PRTE_MCA_plm_ssh_no_tree_spawn: "1",
      SHELL: "/bin/bash",
    });
  });

  test("is the only one that is told: a host's own program runs once, without hosts", () => {
    const { hosts, environments } = program("worker:1", { PATH: "/usr/bin" });
    expect(hosts).toBeUndefined();
    expect(environments).toHaveLength(1);
    expect(environments[0]).toMatchObject({ PATH: "/usr/bin" });
    expect(environments[0]).not.toHaveProperty("TONY_HOSTFILE");
  });
});

describe("a job of MPI is refused", () => {
  const problemsOf = (settings: Readonly<Record<string, string>>) =>
    check({ "tony.containers.command": "true", ...mpi, ...settings })
      .problems.map(formatProblem)
      .join("\n");

  test.each([
    ["without a launcher", { "tony.worker.instances": "2" }, /tony\.launcher\.instances must be 1, not 0/],
    ["without hosts", { "tony.launcher.instances": "1" }, /tony\.worker\.instances is missing: the launcher starts/],
    [
      "whose end waits for its hosts",
      { "tony.launcher.instances": "1", "tony.node.instances": "2", "tony.worker.instances": "1" },
      /^job\.xml:\d+: tony\.application\.untracked\.jobtypes must name node: the job ends when the launcher does$/m,
    ],
  ])("%s", (_, settings, words) => {
    expect(problemsOf(settings)).toMatch(words);
  });
});
