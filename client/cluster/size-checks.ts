import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import type { Resource, ResourceType } from "../../src/hadoop/yarn/records.ts";
import type { NodeSnapshot } from "../../src/job/cluster-nodes.ts";
import { keyProblem, type Problem } from "../../src/job/problem.ts";
import { countWords, memoryWords, otherWords } from "../../src/job/reasons/words.ts";
import { keysOfType } from "../../src/job/resource-kinds.ts";
import type { JobSpec } from "../../src/job/spec.ts";

/** What the ResourceManager says about containers and nodes. */
export interface SizeFacts {
  /** The largest container that it gives with the nodes that are registered now. */
  readonly maximum: Resource;
  /** The largest container with any nodes, by this machine's copy of the site's configuration; absent what it does not say. */
  readonly configured: { readonly memoryMiB?: number; readonly vcores?: number };
  readonly resourceTypes: readonly ResourceType[];
  /** The nodes that run. */
  readonly nodes: readonly NodeSnapshot[];
}

/** A container that the job asks for, and the keys that say so. */
export interface Asked {
  readonly what: string;
  readonly prefix: string;
  readonly resource: Resource;
  readonly nodeLabel?: string;
  /** Without a label this container gets no node that has one, even where such nodes are shared. */
  readonly keepsToItsPartition?: true;
}

/** The largest container by this machine's copy of the site's configuration; Hadoop's own defaults may not be the cluster's. */
export function configuredMaximum(configuration: Configuration): SizeFacts["configured"] {
  const given = (key: string) => (configuration.get(key) === undefined ? undefined : configuration.getInteger(key, 0));
  const memoryMiB = given("yarn.scheduler.maximum-allocation-mb");
  const vcores = given("yarn.scheduler.maximum-allocation-vcores");
  return { ...(memoryMiB === undefined ? {} : { memoryMiB }), ...(vcores === undefined ? {} : { vcores }) };
}

/** One kind of resource in a request, and how much of it the cluster gives. */
interface Size {
  readonly key: string;
  readonly asked: number;
  readonly most: number;
  readonly words: (amount: number) => string;
  /** The configured limit, where it is known, and its setting. */
  readonly configured?: number;
  readonly setting?: string;
  readonly ofNode: (total: Resource) => number;
}

/** Requests that exceed the cluster's largest container: an error where other nodes would not change that. */
export function sizeProblems(spec: JobSpec, { what, prefix, resource }: Asked, facts: SizeFacts): Problem[] {
  const { maximum, configured, resourceTypes } = facts;
  const sizes: Size[] = [
    {
      key: `${prefix}.memory`,
      asked: resource.memoryMiB,
      most: maximum.memoryMiB,
      words: memoryWords,
      ...(configured.memoryMiB === undefined ? {} : { configured: configured.memoryMiB }),
      setting: "yarn.scheduler.maximum-allocation-mb",
      ofNode: ({ memoryMiB }) => memoryMiB,
    },
    {
      key: `${prefix}.vcores`,
      asked: resource.vcores,
      most: maximum.vcores,
      words: (count) => countWords(count, "core"),
      ...(configured.vcores === undefined ? {} : { configured: configured.vcores }),
      setting: "yarn.scheduler.maximum-allocation-vcores",
      ofNode: ({ vcores }) => vcores,
    },
  ];
  const found: Problem[] = [];
  for (const [name, asked] of Object.entries(resource.others)) {
    if (asked === 0) continue;
    const key = keyOfType(spec, prefix, name);
    const amount = (total: Resource) => total.others[name] ?? 0;
    if (!resourceTypes.some((type) => type.name === name)) {
      const known = resourceTypes.map((type) => type.name).join(", ");
      const text = `${what} asks for ${asked} ${name}, a resource type that this cluster does not have (it has ${known})`;
      found.push(
        keyProblem("error", spec, key, `${text}: remove ${key}, or have ${name} added to yarn.resource-types`),
      );
    } else {
      sizes.push({ key, asked, most: amount(maximum), words: (count) => otherWords(name, count), ofNode: amount });
    }
  }
  return [...found, ...sizes.flatMap((size) => sizeProblem(spec, what, size, facts.nodes))];
}

function keyOfType({ sources }: JobSpec, prefix: string, type: string): string {
  const keys = keysOfType(type).map((key) => `${prefix}.${key}`);
  return keys.find((key) => sources[key] !== undefined) ?? `${prefix}.resource.${type}`;
}

/**
 * The largest container is the smaller of the configured one and the largest registered node
 * (ClusterNodeTracker#getMaxAllowedAllocation): when it is smaller than that node, it is the configured one, and no other node
 * changes it.
 */
function sizeProblem(spec: JobSpec, what: string, size: Size, nodes: readonly NodeSnapshot[]): Problem[] {
  const { key, asked, most, words, configured, setting, ofNode } = size;
  if (asked <= most) return [];
  const isConfigured = nodes.some(({ total }) => total !== undefined && ofNode(total) > most);
  const limit = isConfigured ? most : configured;
  if (limit !== undefined && asked > limit) {
    const by = setting === undefined ? "" : ` (${setting})`;
    const text = `${what} asks for ${words(asked)}, the largest container of this cluster has ${words(limit)}`;
    return [keyProblem("error", spec, key, `${text}: lower ${key}${by}`)];
  }
  const text = `${what} asks for ${words(asked)}, with the nodes that are registered now the largest container has ${words(most)}`;
  const unless = asked > 1 ? `, unless you lower ${key}` : "";
  return [keyProblem("warning", spec, key, `${text}: the job waits for a larger node${unless}`)];
}
