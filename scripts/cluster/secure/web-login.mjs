import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { layout } from "../folders.mjs";
import { KMS_PORT, REALM } from "./names.mjs";
import { shareBetweenDaemons } from "./realm.mjs";

/** How long such a cookie is valid. */
const COOKIE_MS = 3_600_000;

/** The ports of web servers that issue delegation tokens themselves, and use another name for the login method: the ResourceManager and the KMS. */
const TOKEN_ISSUING_PORTS = [8090, KMS_PORT];

/** Makes the secret with which all web servers sign their cookies. @param {import("../record.mjs").ClusterRecord} cluster */
export async function makeWebSecret(cluster) {
  const { webSecret } = layout(cluster.state).secure;
  await writeFile(webSecret, randomBytes(32).toString("base64"), { mode: 0o600 });
  await shareBetweenDaemons(cluster, webSecret);
}

/**
 * The cookie that a web server sets for a user who logged in by SPNEGO, signed with the servers' own secret: this tool asks them many times
 * while they start, and so needs no ticket (org.apache.hadoop.security.authentication.util.Signer).
 * @param {{ state: string }} cluster
 * @param {string} user
 * @param {string} url the server's address
 */
export function loginCookie(cluster, user, url) {
  const secret = readFileSync(layout(cluster.state).secure.webSecret, "utf8");
  const type = TOKEN_ISSUING_PORTS.includes(Number(new URL(url).port)) ? "kerberos-dt" : "kerberos";
  const login = `u=${user}&p=${user}@${REALM}&t=${type}&e=${Date.now() + COOKIE_MS}`;
  const signature = createHmac("sha256", secret).update(login).digest("base64");
  return `hadoop.auth="${login}&s=${signature}"`;
}
