import { administer } from "../administration.mjs";
import { theDaemon, webAddressOf } from "../daemons.mjs";
import { activeUrl, ownedFolder } from "../hadoop-state.mjs";
import { at, change, getJson } from "../http.mjs";
import { ZONE } from "./names.mjs";

/**
 * Makes the encryption zone, unless it exists: its key in the KMS, its folder in HDFS, and the zone from both.
 * @param {import("../record.mjs").ClusterRecord} cluster
 */
export async function makeEncryptionZone(cluster) {
  const as = cluster.users.hdfs.name;
  const nameNode = await activeUrl(cluster, "NameNode");
  const folder = await getJson(cluster, `${nameNode}/webhdfs/v1${ZONE.path}?op=GETFILESTATUS`, { as });
  if (at(folder, "FileStatus", "encBit") === true) return;
  const url = webAddressOf(theDaemon(cluster, "KMS"));
  const keys = await getJson(cluster, `${url}/kms/v1/keys/names`, { as });
  if (!Array.isArray(keys) || !keys.includes(ZONE.key)) {
    await change(cluster, `${url}/kms/v1/keys`, { as, method: "POST", body: { name: ZONE.key } });
  }
  await ownedFolder(cluster, ZONE.path, "700", ZONE.owner);
  await administer(cluster, "NameNode", {
    mainClass: "org.apache.hadoop.hdfs.tools.CryptoAdmin",
    programArguments: ["-createZone", "-keyName", ZONE.key, "-path", ZONE.path],
  });
}
