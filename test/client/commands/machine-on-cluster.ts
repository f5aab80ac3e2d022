import path from "node:path";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { aNode } from "../submission/stand-in-cluster.ts";
import { LocalMachine } from "./local-machine.ts";

/** A machine whose configuration names a cluster of one node. Its jobs have succeeded as soon as they are taken. */
export async function machineOnCluster(): Promise<{
  readonly machine: LocalMachine;
  readonly manager: StandInManager;
}> {
  const machine = new LocalMachine();
  const manager = await StandInManager.start(machine.folder);
  manager.nodes = [aNode("n1")];
  manager.taken = { state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: 1_795_305_540_000 };
  machine.environment = {
    ...machine.environment,
    HADOOP_CONF_DIR: manager.configuration,
    HADOOP_USER_NAME: ownerName(),
    XDG_CACHE_HOME: path.join(machine.folder, "cache"),
  };
  return { machine, manager };
}
