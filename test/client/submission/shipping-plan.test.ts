import { expect, test } from "@jest/globals";
import { itemsOf, shippingPlan } from "../../../client/submission/shipping-plan.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";

const runtime = { link: "node", source: "/opt/node", as: "file", shared: true } as const;
const venv = { name: "venv", source: "/home/ada/venv", as: "archive" } as const;
const data = { name: "ps.bin", source: "hdfs://nn/ps.bin", as: "file" } as const;
const settings = { name: "am.conf", source: "/home/ada/am.conf", as: "file" } as const;

const spec = aJobSpec({
  files: [venv],
  am: { resource: { memoryMiB: 512, vcores: 1, others: {} }, files: [settings] },
  roles: [aRole("worker", 2), { ...aRole("ps", 1), files: [data] }],
});
const links = (items: readonly { readonly link: string }[] = []) => items.map(({ link }) => link);

test("the AM gets the runtime, its own program and what is named for it, and nothing that only tasks need", () => {
  const plan = shippingPlan(spec, { items: [runtime] });
  expect(links(plan.master)).toEqual(["node", "am.cjs", "tony-page.html", "am.conf"]);
  expect(links(plan.all)).toEqual(["node", "executor.cjs", "venv"]);
  expect(links(plan.byRole.worker)).toEqual([]);
  expect(links(plan.byRole.ps)).toEqual(["ps.bin"]);
});

test("the AM gets the tasks' files where a task runs in its container, and no page that it does not serve", () => {
  const roles = [aRole("worker", 2), { ...aRole("tensorboard", 1), inMaster: true } as const];
  const plan = shippingPlan({ ...spec, roles, am: { ...spec.am, page: false } }, { items: [runtime] });
  expect(links(plan.master)).toEqual(["node", "executor.cjs", "venv", "am.cjs", "am.conf"]);
});

test("our own files are shared with everybody, from where they are installed", () => {
  const { master, all } = shippingPlan(spec, { items: [] });
  const ours = { as: "file", shared: true };
  expect([master[0], master[1], all[0]]).toEqual([
    { ...ours, link: "am.cjs", source: expect.stringMatching(/\/am\.cjs$/) },
    { ...ours, link: "tony-page.html", source: expect.stringMatching(/\/page\.html$/) },
    { ...ours, link: "executor.cjs", source: expect.stringMatching(/\/executor\.cjs$/) },
  ]);
});

test("what the AM logs in by comes to it alone", () => {
  const forLogin = [{ link: "tokens.cjs", source: "/opt/tokens.cjs", as: "file", shared: true }] as const;
  const { master, all } = shippingPlan(spec, { items: [] }, [], forLogin);
  expect(links(master)).toContain("tokens.cjs");
  expect(links(all)).not.toContain("tokens.cjs");
});

test("a program travels with what was compiled of it, for all alike", () => {
  const { master, all } = shippingPlan(spec, { items: [], codeCaches: { am: "/cache/1", executor: "/cache/2" } });
  expect(master[1]).toEqual({ link: "am.cjs.cache", source: "/cache/1", as: "file", shared: true });
  expect(all[1]).toEqual({ link: "executor.cjs.cache", source: "/cache/2", as: "file", shared: true });
});

test("what several containers get is sent once", () => {
  const items = itemsOf(shippingPlan(spec, { items: [runtime] }));
  expect(links(items).sort()).toEqual([
    "am.cjs",
    "am.conf",
    "executor.cjs",
    "node",
    "ps.bin",
    "tony-page.html",
    "venv",
  ]);
});

test("each file of the job says who names it", () => {
  const sources = { "tony.ps.resources": "job.xml:7" };
  const twin = { ...venv, source: "/home/ada/other" };
  const alias = { ...venv, name: "env" };
  const named = { ...spec, sources, files: [venv, twin, alias] };
  const lib = { name: "lib", source: "/home/ada/lib", as: "archive" } as const;
  const { master, all, byRole } = shippingPlan(named, { items: [] }, [venv, lib]);
  expect(byRole.ps?.[0]?.namedBy).toBe("job.xml:7: tony.ps.resources");
  expect(all.slice(-3)).toEqual([
    { link: "venv", source: "/home/ada/venv", as: "archive", namedBy: "--python_venv" },
    { link: "venv", source: "/home/ada/other", as: "archive", namedBy: "tony.containers.resources" },
    { link: "env", source: "/home/ada/venv", as: "archive", namedBy: "tony.containers.resources" },
  ]);
  expect(master.at(-1)?.namedBy).toBe("tony.am.resources");
});
