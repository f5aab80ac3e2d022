import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { loginCookie } from "../../../../scripts/cluster/secure/web-login.mjs";

const state = mkdtempSync(join(tmpdir(), "tony-web-login-"));
afterAll(() => rmSync(state, { recursive: true }));
mkdirSync(join(state, "secure"));
writeFileSync(join(state, "secure", "web-secret"), "the servers' secret");

test("signs the cookie as the web servers do, for the way of logging in that the server has", () => {
  const cookie = loginCookie({ state }, "hdfs", "https://h:9871/jmx");
  const [, login = "", signature] = /^hadoop\.auth="(.*)&s=(.*)"$/.exec(cookie) ?? [];
  expect(login).toMatch(/^u=hdfs&p=hdfs@TONY\.TEST&t=kerberos&e=\d{13}$/);
  expect(signature).toBe(createHmac("sha256", "the servers' secret").update(login).digest("base64"));
  expect(loginCookie({ state }, "yarn", "https://h:8090/ws/v1/cluster")).toContain("&t=kerberos-dt&");
});
