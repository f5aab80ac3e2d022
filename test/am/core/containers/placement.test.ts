import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, Scenario, typesOf } from "../scenario.ts";

const node = (host: string, memoryMiB: number, change: object = {}) => ({
  nodeId: `${host}:45454`,
  host,
  rack: "/default-rack",
  usable: true,
  labels: [],
  free: { memoryMiB, vcores: 16, others: {} },
  ...change,
});

describe("the room of a host", () => {
  test("is promised once: what one role is told to use, no other role is", () => {
    const scenario = new Scenario(jobSpec([role("worker", 3), role("ps", 3)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a", 3072), node("b", 3072)] });
    const named = asksOf(scenario.register()).flatMap(({ hosts }) => hosts);
    const perHost = (host: string) =>
      named.filter((hint) => hint.host === host).reduce((sum, { count }) => sum + count, 0);
    expect([perHost("a"), perHost("b")]).toEqual([3, 3]);
  });

  test.each([
    ["cores", { vcores: 3 }, {}],
    ["GPUs", { others: { "yarn.io/gpu": 3 } }, { others: { "yarn.io/gpu": 1 } }],
  ])("is promised once in %s as well", (_, free, needs) => {
    const resource = { memoryMiB: 1024, vcores: 1, others: {}, ...needs };
    const scenario = new Scenario(jobSpec([role("worker", 3, { resource }), role("ps", 3, { resource })]));
    const has = { free: { memoryMiB: 8192, vcores: 16, others: {}, ...free } };
    scenario.on({ type: "nodes-changed", nodes: [node("a", 8192, has), node("b", 8192, has)] });
    const asks = asksOf(scenario.register({ resourceTypes: ["yarn.io/gpu"] }));
    expect(asks.map(({ hosts }) => hosts.map(({ host, count }) => `${host} ${count}`))).toEqual([
      ["a 2", "b 2"],
      ["a 1", "b 1"],
    ]);
  });

  test("is not known, or not to be had, on nodes that are away, leave or were never measured: they are not named", () => {
    const scenario = new Scenario(jobSpec([role("worker", 6)]));
    const nodes = [
      node("away", 8192, { usable: false }),
      node("leaving", 8192, { decommissioning: {} }),
      node("unknown", 0, { free: undefined }),
      node("here", 8192),
    ];
    scenario.register();
    scenario.on({ type: "nodes-changed", nodes });
    const [ask] = asksOf(scenario.on({ type: "resource-manager-resynced" }));
    expect(ask?.hosts).toEqual([{ host: "here", count: 6 }]);
  });

  test("is asked for on its rack, too, which is named once and with the whole number", () => {
    const scenario = new Scenario(jobSpec([role("worker", 5)]));
    const nodes = [node("a", 8192, { rack: "/1" }), node("b", 8192, { rack: "/2" }), node("c", 8192, { rack: "/1" })];
    scenario.on({ type: "nodes-changed", nodes: [...nodes, node("full", 0, { rack: "/3" })] });
    expect(asksOf(scenario.register())[0]?.racks).toEqual([
      { rack: "/1", count: 5 },
      { rack: "/2", count: 5 },
    ]);
  });

  test("is asked for on no more than twice as many hosts as containers are wanted", () => {
    const nodes = ["a", "b", "c", "d", "e"].map((host) => node(host, 8192));
    const hostsOf = (...roles: Parameters<typeof jobSpec>[0]) => {
      const scenario = new Scenario(jobSpec(roles));
      scenario.on({ type: "nodes-changed", nodes });
      return asksOf(scenario.register()).map(({ hosts }) => hosts.map(({ host, count }) => `${host} ${count}`));
    };
    expect(hostsOf(role("worker", 5), role("ps", 1))).toEqual([
      ["a 1", "b 1", "c 1", "d 1", "e 1"],
      ["a 1", "b 1"],
    ]);
    expect(hostsOf(role("worker", 2, { placement: "spread" }))).toEqual([["a 1", "b 1", "c 1", "d 1"]]);
  });

  test("without a label is for a role whose label is empty", () => {
    const scenario = new Scenario(jobSpec([role("worker", 3, { nodeLabel: "" })]));
    scenario.on({ type: "nodes-changed", nodes: [node("own", 8192), node("gpu", 8192, { labels: ["gpu"] })] });
    expect(asksOf(scenario.register())).toMatchObject([{ hosts: [{ host: "own", count: 3 }] }]);
  });

  test("is no longer asked for when all containers have come, although hosts were named", () => {
    const scenario = new Scenario(jobSpec([role("worker", 3)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a", 3072)] });
    scenario.register();
    expect(asksOf(scenario.allocateAll().concat(scenario.after(60_000)))).toEqual([]);
  });

  test("with a label is not for roles without one, unless the label is not exclusive", () => {
    const hostsOf = (labelled: object) => {
      const scenario = new Scenario(jobSpec([role("worker", 2, { placement: "spread" })]));
      scenario.on({ type: "nodes-changed", nodes: [node("own", 8192), node("gpu", 8192, labelled)] });
      return asksOf(scenario.register()).flatMap(({ hosts }) => hosts.map(({ host }) => host));
    };
    expect(hostsOf({ labels: ["gpu"] })).toEqual(["own"]);
    expect(hostsOf({ labels: ["gpu"], nonExclusive: true })).toEqual(["own", "gpu"]);
  });
});

test("a packed role goes on where it already has containers, however much room other hosts have", () => {
  const scenario = new Scenario(jobSpec([role("worker", 3, { placement: "pack" })]));
  scenario.on({ type: "nodes-changed", nodes: [node("b", 8192), node("a", 3072)] });
  scenario.register();
  const given = ["a", "a", "b"].map((host) => scenario.container(1, { host }));
  scenario.on({ type: "containers-allocated", containers: given });
  const effects = scenario.completes(given[2]?.containerId ?? "", -100);
  expect(asksOf(effects)).toMatchObject([{ count: 1, hosts: [{ host: "a", count: 1 }] }]);
});

test("a packed role goes on where it has most, on more hosts where one has too little room, and beside no other role", () => {
  const scenario = new Scenario(jobSpec([role("worker", 6, { placement: "pack" }), role("ps", 3)]));
  scenario.on({ type: "nodes-changed", nodes: [node("c", 8192), node("b", 2048), node("a", 2048)] });
  scenario.register();
  const given = ["a", "a", "b", "a", "b", "b"].map((host) => scenario.container(1, { host }));
  const others = ["c", "c", "c"].map((host) => scenario.container(2, { host }));
  scenario.on({ type: "containers-allocated", containers: [...given, ...others] });
  const lose = (position: number) => scenario.completes(given[position]?.containerId ?? "", -102);
  expect(asksOf(lose(0))).toMatchObject([{ count: 1, hosts: [{ host: "b", count: 1 }] }]);
  lose(1);
  const [last] = asksOf(lose(2)).filter(({ role }) => role === "worker");
  expect(last).toMatchObject({
    count: 3,
    hosts: [
      { host: "b", count: 2 },
      { host: "a", count: 1 },
    ],
  });
});

test("a packed role does not go on where it has given up its containers", () => {
  const scenario = new Scenario(jobSpec([role("worker", 3, { placement: "pack" })]));
  scenario.on({ type: "nodes-changed", nodes: [node("a", 3072), node("b", 3072)] });
  scenario.register();
  const [first, ...others] = ["a", "b", "b"].map((host) => scenario.container(1, { host }));
  scenario.on({ type: "containers-allocated", containers: first === undefined ? [] : [first, ...others] });
  const fails = (containerId: string) =>
    scenario.on({ type: "launch-failed", containerId, message: "no token", nodeAtFault: false });
  for (const { containerId } of others) {
    expect(asksOf(fails(containerId))[0]?.hosts.map(({ host }) => host)).toContain("a");
  }
});

describe("a host that is excluded", () => {
  function excluded(): Scenario {
    const scenario = new Scenario(jobSpec([role("worker", 4)]));
    scenario.on({ type: "nodes-changed", nodes: ["a", "b", "c"].map((host) => node(host, 8192)) });
    scenario.register();
    for (let failure = 0; failure < 2; failure++) {
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host: "a" })] });
      scenario.completes(scenario.task("worker:0").containerId, -101);
    }
    expect(scenario.core.state.blame).toMatchObject({ a: { excluded: true } });
    return scenario;
  }

  test("is named in no further ask", () => {
    const scenario = excluded();
    const asks = asksOf(scenario.on({ type: "resource-manager-resynced" }));
    expect(asks[0]?.hosts.map(({ host }) => host)).toEqual(["b", "c"]);
  });

  test("is named to the ResourceManager again by the next attempt", () => {
    const scenario = excluded();
    scenario.after(1_000);
    expect(scenario.crash([])).toContainEqual({ type: "blacklist", hosts: ["a"] });
  });

  test("gets no task: a container that YARN was giving there goes back", () => {
    const scenario = excluded();
    const late = scenario.container(1, { host: "a" });
    const effects = scenario.on({ type: "containers-allocated", containers: [late] });
    expect(typesOf(effects)).not.toContain("launch");
    expect(effects).toContainEqual({ type: "release", containerIds: [late.containerId], reason: "no task needs it" });
  });
});
