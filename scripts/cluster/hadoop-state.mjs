import { change, getJson } from "./http.mjs";
import { GPU_NODE, SUBMITTERS } from "./site-files.mjs";

/** What the daemons say of themselves, and what a new cluster needs set in them. All over their REST interfaces. */

const bean = async (url, query) => (await getJson(`${url}/jmx?qry=${query}`))?.beans?.[0];

/** @param {string} master @returns {Promise<boolean>} whether HDFS takes writes: out of safe mode, with its DataNode */
export async function hdfsIsReady(master) {
  const url = `http://${master}:9870`;
  const info = await bean(url, "Hadoop:service=NameNode,name=NameNodeInfo");
  if (info?.Safemode !== "") return false;
  const system = await bean(url, "Hadoop:service=NameNode,name=FSNamesystemState");
  return system?.NumLiveDataNodes === 1;
}

/** @param {string} master @returns {Promise<number | undefined>} usable NodeManagers, undefined while the ResourceManager is away */
export async function activeNodes(master) {
  return (await getJson(`http://${master}:8088/ws/v1/cluster/metrics`))?.clusterMetrics?.activeNodes;
}

/** @param {string} master @returns {Promise<string[]>} applications that have not ended */
export async function unfinishedApplications(master) {
  const states = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING";
  const answer = await getJson(`http://${master}:8088/ws/v1/cluster/apps?states=${states}`);
  return (answer?.apps?.app ?? []).map(({ id }) => id);
}

/** @param {string} master @param {string} application @param {string} user who kills it, in the application's diagnostics */
export async function killApplication(master, application, user) {
  const url = `http://${master}:8088/ws/v1/cluster/apps/${application}/state?user.name=${user}`;
  await change(url, { method: "PUT", body: { state: "KILLED" } });
}

/**
 * The folders HDFS has at a site: /tmp for all, the aggregated logs, and a home for each user but `nohome`.
 * @param {import("./record.mjs").ClusterRecord} cluster
 */
export async function makeHdfsFolders({ addresses, users, submitter }) {
  const call = (path, query) =>
    change(`http://${addresses.master}:9870/webhdfs/v1${path}?${query}&user.name=${users.hdfs.name}`, {
      method: "PUT",
    });
  const folder = async (path, permission, owner) => {
    await call(path, `op=MKDIRS&permission=${permission}`);
    // MKDIRS leaves an existing folder as it is.
    await call(path, `op=SETPERMISSION&permission=${permission}`);
    await call(path, `op=SETOWNER&owner=${owner}&group=${owner === users.yarn.name ? "hadoop" : owner}`);
  };
  await folder("/tmp", "1777", users.hdfs.name);
  await folder("/tmp/logs", "1777", users.yarn.name);
  await folder("/user", "755", users.hdfs.name);
  for (const user of new Set([...SUBMITTERS, submitter])) {
    // bob's home is open, as some sites have it: only such a one can hold resources that NodeManagers share.
    if (user !== "nohome") await folder(`/user/${user}`, user === "bob" ? "755" : "700", user);
  }
}

/**
 * Makes the label `gpu` and puts it on the second node. The ResourceManager keeps both, saying it twice does no harm.
 * @param {import("./record.mjs").ClusterRecord} cluster
 */
export async function labelGpuNode({ addresses, users, settings }) {
  const address = addresses.nodes[GPU_NODE];
  // FairScheduler knows no labels.
  if (settings.label === "none" || settings.scheduler === "fair" || address === undefined) return;
  const call = (path, body) =>
    change(`http://${addresses.master}:8088/ws/v1/cluster/${path}?user.name=${users.yarn.name}`, {
      method: "POST",
      body,
    });
  await call("add-node-labels", { nodeLabelInfo: [{ name: "gpu", exclusivity: settings.label === "exclusive" }] });
  await call("replace-node-to-labels", { nodeToLabels: [{ nodeId: `${address}:8041`, labels: ["gpu"] }] });
}
