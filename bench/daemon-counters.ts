import type { ClusterStatus } from "../test/support/cluster.ts";
import { at, listAt, requestJson } from "../test/support/http-json.ts";

/** What the daemons themselves have counted since they started. */
export interface DaemonCounters {
  readonly atMs: number;
  /** Allocate calls of ApplicationMasters, counted by the ResourceManager. */
  readonly allocates: number;
  /** Bytes of all answers to ApplicationMasters. */
  readonly masterAnswerBytes: number;
  /** All calls of clients. */
  readonly clientCalls: number;
  readonly clientAnswerBytes: number;
  /** Operations on files and folders, by clients, nodes and DataNodes, over RPC and WebHDFS. */
  readonly fileOperations: number;
}

/** Reads the metrics of the ResourceManager and the NameNode (org.apache.hadoop.metrics2, over JMX). */
export async function readCounters({ endpoints }: ClusterStatus): Promise<DaemonCounters> {
  const manager = `${endpoints.resourceManager}/jmx?qry=Hadoop:service=ResourceManager,name=`;
  const nameNode = `${new URL(endpoints.webHdfs).origin}/jmx?qry=Hadoop:service=NameNode,name=`;
  const [masters, masterCalls, clients, files] = await Promise.all([
    bean(`${manager}RpcActivityForPort${portOf(endpoints.schedulerRpc)}`),
    bean(`${manager}RpcDetailedActivityForPort${portOf(endpoints.schedulerRpc)}`),
    bean(`${manager}RpcActivityForPort${portOf(endpoints.resourceManagerRpc)}`),
    bean(`${nameNode}NameNodeActivity`),
  ]);
  return {
    atMs: Date.now(),
    allocates: count(masterCalls, "AllocateNumOps"),
    masterAnswerBytes: count(masters, "SentBytes"),
    clientCalls: count(clients, "RpcProcessingTimeNumOps"),
    clientAnswerBytes: count(clients, "SentBytes"),
    fileOperations: count(files, "TotalFileOps"),
  };
}

/** How much each counter grew between two readings. */
export function between(
  before: DaemonCounters,
  after: DaemonCounters,
): Omit<DaemonCounters, "atMs"> & { readonly minutes: number } {
  return {
    minutes: (after.atMs - before.atMs) / 60_000,
    allocates: after.allocates - before.allocates,
    masterAnswerBytes: after.masterAnswerBytes - before.masterAnswerBytes,
    clientCalls: after.clientCalls - before.clientCalls,
    clientAnswerBytes: after.clientAnswerBytes - before.clientAnswerBytes,
    fileOperations: after.fileOperations - before.fileOperations,
  };
}

async function bean(url: string): Promise<unknown> {
  return listAt((await requestJson(url)).body, "beans")[0];
}

/** A method that was never called has no counter yet. */
function count(from: unknown, name: string): number {
  const value = at(from, name);
  return typeof value === "number" ? value : 0;
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":") + 1);
}
