import { describe, expect, it } from "@jest/globals";
import { kernelMemoryKills, memoryEventsFile, ranOutOfMemory } from "../../../executor/program/memory-evidence.ts";

describe("the kernel's count of kills for memory", () => {
  it.each([
    ["version 2", "0::/yarn/container_1\n", "/sys/fs/cgroup/yarn/container_1/memory.events"],
    ["version 2, the root", "0::/\n", "/sys/fs/cgroup/memory.events"],
    ["version 1", "5:cpu,cpuacct:/a\n4:memory:/yarn/c1\n0::/\n", "/sys/fs/cgroup/memory/yarn/c1/memory.oom_control"],
    ["version 1, with others", "4:hugetlb,memory,pids:/c1\n", "/sys/fs/cgroup/memory/c1/memory.oom_control"],
  ])("is where cgroups of %s keep it", (_version, cgroups, file) => {
    expect(memoryEventsFile(cgroups)).toBe(file);
  });

  it("is not there without a memory controller", () => {
    expect(memoryEventsFile("5:cpu,cpuacct:/a\n")).toBeUndefined();
  });

  it.each([
    ["memory.events", "low 0\nhigh 0\nmax 3\noom 2\noom_kill 2\noom_group_kill 0\n", 2],
    ["memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", 7],
    ["a kernel that does not count", "oom_kill_disable 0\n", undefined],
  ])("is read from %s", (_file, content, count) => {
    const files = new Map([
      ["/proc/self/cgroup", "0::/c\n"],
      ["/sys/fs/cgroup/c/memory.events", content],
    ]);
    expect(kernelMemoryKills((file) => files.get(file) ?? "")).toBe(count);
  });

  it("is unknown where nothing can be read", () => {
    expect(
      kernelMemoryKills(() => {
        throw new Error("ENOENT");
      }),
    ).toBeUndefined();
  });
});

it.each([
  ["at 95 of 100 of its limit", true, 95, true],
  ["below that", true, 94, false],
  ["there, and ended by itself", false, 100, false],
])(
  "whether memory ran out of a program whose container was last seen %s",
  (_where, killed, lastSampleBytes, ranOut) => {
    const evidence = { killsBefore: 1, killsAfter: 1, lastSampleBytes, limitBytes: 100 };
    expect(ranOutOfMemory(killed, evidence)).toBe(ranOut);
  },
);

it.each([
  ["killed one more than before", { killsBefore: 1, killsAfter: 2 }, true],
  ["killed no more than before", { killsBefore: 2, killsAfter: 2 }, false],
  ["does not tell how many it had killed before", { killsBefore: undefined, killsAfter: 2 }, false],
  ["does not tell any more", { killsBefore: 1, killsAfter: undefined }, false],
])("whether memory ran out of a program that was killed, where the kernel %s", (_what, kills, ranOut) => {
  expect(ranOutOfMemory(true, { ...kills, lastSampleBytes: 10, limitBytes: 100 })).toBe(ranOut);
  expect(ranOutOfMemory(true, { ...kills, lastSampleBytes: 10, limitBytes: undefined })).toBe(ranOut);
  expect(ranOutOfMemory(false, { ...kills, lastSampleBytes: 10, limitBytes: 100 })).toBe(false);
});
