import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { layout } from "../folders.mjs";
import { eachHost } from "./host-names.mjs";
import { shareBetweenDaemons } from "./realm.mjs";

/** @import { ClusterRecord } from "../record.mjs" */

const run = promisify(execFile);

/** The password of the stores. It protects nothing: the trust store contains no secret, and only the daemons' users can read the key store. */
export const STORE_PASSWORD = "changeit";

/** The key pair of the authority and that of the servers, like every key here on P-256. */
const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
const DAYS = "365";

/**
 * Creates the cluster's certificate authority and one certificate for its web servers, new ones each time: `ca.pem`,
 * `truststore.jks` and `truststore.p12` for clients, `keystore.p12` for the daemons. The authority's own key is not kept.
 * @param {ClusterRecord} cluster
 */
export async function makeCertificates(cluster) {
  const { tls, keyStore } = layout(cluster.state).secure;
  await rm(tls, { recursive: true, force: true });
  await mkdir(tls, { recursive: true });
  const file = (/** @type {string} */ name) => join(tls, name);
  const subject = ["-subj", `/CN=tony-ts cluster ${cluster.name}`, "-days", DAYS];
  await run("openssl", ["req", "-x509", ...KEY, ...subject, "-keyout", file("ca.key"), "-out", file("ca.pem")]);
  const request = [
    "-subj",
    `/CN=${cluster.addresses.master}`,
    "-keyout",
    file("server.key"),
    "-out",
    file("server.csr"),
  ];
  await run("openssl", ["req", "-new", ...KEY, ...request]);
  const names = eachHost(cluster.addresses).map((host) => `DNS:${host}`);
  await writeFile(file("server.ext"), `subjectAltName=${names.join(",")}\n`);
  const issuer = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-CAcreateserial", "-days", DAYS];
  const issued = ["-in", file("server.csr"), "-extfile", file("server.ext"), "-out", file("server.pem")];
  await run("openssl", ["x509", "-req", ...issuer, ...issued]);
  const pair = ["-inkey", file("server.key"), "-in", file("server.pem"), "-certfile", file("ca.pem")];
  const password = ["-passout", `pass:${STORE_PASSWORD}`];
  await run("openssl", ["pkcs12", "-export", ...pair, "-name", "server", ...password, "-out", keyStore]);
  await Promise.all(Object.entries(TRUST_STORES).map(([name, type]) => makeTrustStore(cluster, file(name), type)));
  for (const name of ["ca.key", "ca.srl", "server.key", "server.csr", "server.ext"])
    await rm(file(name), { force: true });
  await shareBetweenDaemons(cluster, keyStore);
}

const TRUST_STORES = { "truststore.jks": "JKS", "truststore.p12": "PKCS12" };

/** @param {ClusterRecord} cluster @param {string} store @param {string} type */
async function makeTrustStore({ state, javaHome }, store, type) {
  const certificate = ["-alias", "ca", "-file", layout(state).secure.certificateAuthority];
  const target = ["-keystore", store, "-storetype", type, "-storepass", STORE_PASSWORD];
  await run(join(javaHome, "bin", "keytool"), ["-importcert", "-noprompt", ...certificate, ...target]);
}
