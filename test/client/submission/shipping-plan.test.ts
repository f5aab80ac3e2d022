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
  const { master, all, byRole } = shippingPlan({ ...spec, sources }, { items: [] }, [venv]);
  expect(byRole.ps?.[0]?.namedBy).toBe("job.xml:7: tony.ps.resources");
  expect(all.at(-1)?.namedBy).toBe("--python_venv");
  expect(master.at(-1)?.namedBy).toBe("tony.am.resources");
});
