import type { Resource } from "../../src/hadoop/yarn/records.ts";
import { isPlainGpu } from "../../src/job/gpus.ts";
import { amountWords, countWords, listWords, memoryWords } from "../../src/job/reasons/words.ts";
import { formatTable } from "../output/format.ts";
import type { Holder, HolderPlace, LabelShare, NodeShare, NodesOverview } from "./nodes-overview.ts";

/** A table has at most so many rows. */
export const mostRows = 100;
/** So many of the nodes that an application has containers on are named. */
const mostPlaces = 4;
const none = "–";

/** What is free on each node and under each label, and who holds the rest. */
export function nodeLines({ nodes, labels, holders }: NodesOverview): string[] {
  if (nodes.length === 0) return ["No nodes"];
  const types = [...new Set(nodes.flatMap(({ total }) => Object.keys(total.others)))].sort();
  const sections = [nodeTable(nodes, types), labels.length < 2 ? [] : labelTable(labels, types), holderTable(holders)];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]));
}

function nodeTable(nodes: readonly NodeShare[], types: readonly string[]): string[] {
  const head = ["node", "state", "label", ...freeHead(types), "containers"];
  const isWell = nodes.every(({ health }) => health === undefined);
  const rows = nodes
    .slice(0, mostRows)
    .map((node) => [
      node.host,
      node.state,
      node.label ?? none,
      ...freeCells(node, types),
      String(node.containers),
      ...(isWell ? [] : [node.health?.replace(/\s+/g, " ").trim() ?? ""]),
    ]);
  return [...formatTable([isWell ? head : [...head, "health"], ...rows]), ...moreRows(nodes.length, "node")];
}

function labelTable(labels: readonly LabelShare[], types: readonly string[]): string[] {
  const rows = labels.map((share) => [share.label ?? none, String(share.nodes), ...freeCells(share, types)]);
  return formatTable([["label", "nodes", ...freeHead(types)], ...rows]);
}

function holderTable(holders: readonly Holder[]): string[] {
  if (holders.length === 0) return ["No application holds a container"];
  const rows = holders
    .slice(0, mostRows)
    .map(({ applicationId, user, queue, name, used, containers, places }) => [
      applicationId,
      user,
      queue.slice(queue.lastIndexOf(".") + 1),
      name,
      String(containers),
      amountWords(used),
      places === undefined ? none : listWords(places.map(placeWords), mostPlaces),
    ]);
  const head = ["application", "user", "queue", "name", "containers", "holds", "on"];
  return [...formatTable([head, ...rows]), ...moreRows(holders.length, "application")];
}

/** `node-2 (3)`: three containers; a single one has no count. */
function placeWords({ host, containers }: HolderPlace): string {
  return containers === 1 ? host : `${host} (${containers})`;
}

function freeHead(types: readonly string[]): string[] {
  return ["memory free", "cores free", ...types.map((type) => `${isPlainGpu(type) ? "GPUs" : type} free`)];
}

/** `6 GiB of 8 GiB`, `29 of 32`, `0 of 2` */
function freeCells(
  { free, total }: { readonly free: Resource; readonly total: Resource },
  types: readonly string[],
): string[] {
  return [
    `${memoryWords(Math.max(0, free.memoryMiB))} of ${memoryWords(total.memoryMiB)}`,
    `${Math.max(0, free.vcores)} of ${total.vcores}`,
    ...types.map((type) => {
      const all = total.others[type] ?? 0;
      return all === 0 ? none : `${Math.max(0, free.others[type] ?? 0)} of ${all}`;
    }),
  ];
}

function moreRows(count: number, noun: string): string[] {
  return count <= mostRows ? [] : [`${countWords(count - mostRows, noun)} not shown: --json has all`];
}
