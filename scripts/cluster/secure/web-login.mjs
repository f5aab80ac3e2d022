import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { layout } from "../folders.mjs";
import { KMS_PORT, REALM } from "./names.mjs";
import { shareBetweenDaemons } from "./realm.mjs";

/** How long a cookie made here is good for. */
const COOKIE_MS = 3_600_000;

/** Web servers that give out delegation tokens themselves call their way of logging in by another name: the ResourceManager and the KMS. */
const TOKEN_ISSUING_PORTS = [8090, KMS_PORT];

/** Makes what all web servers sign their cookies with. @param {import("../record.mjs").ClusterRecord} cluster */
export async function makeWebSecret(cluster) {
  const { webSecret } = layout(cluster.state).secure;
  await writeFile(webSecret, randomBytes(32).toString("base64"), { mode: 0o600 });
  await shareBetweenDaemons(cluster, webSecret);
}

/**
 * The cookie that a web server gives to a user who logged in by SPNEGO, signed with the servers' own secret: this tool asks them many times
 * while they start, and needs no ticket for it (org.apache.hadoop.security.authentication.util.Signer).
 * @param {{ state: string }} cluster
 * @param {string} user
 * @param {string} url of the server
 */
export function loginCookie(cluster, user, url) {
  const secret = readFileSync(layout(cluster.state).secure.webSecret, "utf8");
  const type = TOKEN_ISSUING_PORTS.includes(Number(new URL(url).port)) ? "kerberos-dt" : "kerberos";
  const login = `u=${user}&p=${user}@${REALM}&t=${type}&e=${Date.now() + COOKIE_MS}`;
  const signature = createHmac("sha256", secret).update(login).digest("base64");
  return `hadoop.auth="${login}&s=${signature}"`;
}
