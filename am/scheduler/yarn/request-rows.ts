import type { ResourceRequest } from "../../../src/hadoop/yarn/allocation.ts";
import type { Ask } from "../../core/state/effects.ts";

/** Anywhere (org.apache.hadoop.yarn.api.records.ResourceRequest#ANY). */
const anywhere = "*";

/**
 * The ResourceRequests of one ask. A row for a host needs its rack's row and the `*` row in the same call. A row of the earlier ask that is
 * no longer wanted must be set to 0, or it would stay for ever.
 * @param before the role's ask that this one replaces
 */
export function requestRows(ask: Ask, before: Ask | undefined): ResourceRequest[] {
  const wanted = positiveRows(ask);
  const names = new Set(wanted.map((row) => row.resourceName));
  const withdrawn = before === undefined ? [] : withdrawnRows(before, ask, names);
  return [...withdrawn, ...wanted];
}

/**
 * The `*` row comes last and carries the whole count, also when it is 0; it alone names the label. If only the named hosts
 * will do, this row and the racks' rows say so.
 */
function positiveRows(ask: Ask): ResourceRequest[] {
  const row = (resourceName: string, count: number): ResourceRequest => ({
    priority: ask.priority,
    resourceName,
    capability: ask.resource,
    count,
  });
  const label = ask.nodeLabel === undefined ? {} : { nodeLabelExpression: ask.nodeLabel };
  const strict = ask.relaxLocality === false ? { relaxLocality: false } : {};
  return [
    ...ask.hosts.map(({ host, count }) => row(host, count)),
    ...ask.racks.map(({ rack, count }) => ({ ...row(rack, count), ...strict })),
    { ...row(anywhere, ask.count), ...label, ...strict },
  ];
}

function withdrawnRows(before: Ask, now: Ask, kept: ReadonlySet<string>): ResourceRequest[] {
  const sameCapability = JSON.stringify(before.resource) === JSON.stringify(now.resource);
  return positiveRows(before)
    .filter((row) => !(sameCapability && kept.has(row.resourceName)))
    .map((row) => ({ ...row, count: 0 }));
}
