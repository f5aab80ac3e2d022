import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { withTrustedCertificates } from "../../../client/cluster/trusted-certificates.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";

const stores = path.resolve("test/fixtures/trust-stores");
const certificate = readFileSync(`${stores}/ca.pem`, "utf8").trim();
const folder = mkdtempSync(path.join(tmpdir(), "tony-trust-"));
afterAll(() => rmSync(folder, { recursive: true }));

const property = (name: string, value: string) =>
  `<property><name>ssl.client.truststore.${name}</name><value>${value}</value></property>`;

/** A site whose ssl-client.xml names this store. */
function site(store: string, password = "changeit"): string {
  const directory = mkdtempSync(path.join(folder, "site-"));
  const properties = property("location", store) + property("password", password);
  writeFileSync(path.join(directory, "ssl-client.xml"), `<configuration>${properties}</configuration>`);
  return directory;
}

const trusted = (directory: string, caFile?: string) =>
  withTrustedCertificates(new Configuration(), directory, caFile).get("ssl.client.truststore.pem")?.trim();

test("the trust store of ssl-client.xml is what is trusted, a file that the job or site names before it", () => {
  expect(trusted(site(`${stores}/store.jks`))).toBe(certificate);
  expect(trusted(site("/none"), `${stores}/ca.pem`)).toBe(certificate);
});

test("where nothing is named, whom Node trusts", () => {
  expect(trusted(folder)).toBeUndefined();
  expect(trusted(site(""))).toBeUndefined();
});

test.each([
  [
    site("/none"),
    /^ssl.client.truststore.location \(.*ssl-client.xml:1\) names a trust store that cannot be read: ENOENT/,
  ],
  [site(`${stores}/store.jks`, "other"), /store.jks cannot be read: the password is wrong/],
])("one that cannot be read is the cluster's exit code, and the error names it", (directory, message) => {
  expect(() => trusted(directory)).toThrow(
    expect.objectContaining({
      name: "UserError",
      code: "TRUST_STORE",
      exitCode: 3,
      cause: expect.any(Error),
      message: expect.stringMatching(message),
    }),
  );
});

test("a file of the site's that is malformed stays an error of the configuration", () => {
  const directory = mkdtempSync(path.join(folder, "site-"));
  writeFileSync(path.join(directory, "ssl-client.xml"), "<configuration>");
  expect(() => trusted(directory)).toThrow(expect.objectContaining({ code: "CONFIGURATION_MALFORMED" }));
});

test("more than a container's environment takes is refused before anything is submitted", () => {
  const file = path.join(folder, "many.pem");
  const of = (count: number) => {
    writeFileSync(file, `${certificate}\n`.repeat(count));
    return file;
  };
  const fits = Math.floor(65_536 / (certificate.length + 1));
  expect(trusted(folder, of(fits))).toHaveLength(fits * (certificate.length + 1) - 1);
  expect(() => trusted(folder, of(fits + 1))).toThrow(
    expect.objectContaining({
      ...{ name: "UserError", code: "TRUST_STORE", exitCode: 3 },
      message: expect.stringMatching(
        /^The trusted certificates have \d+ bytes as PEM; containers take 65536\n {2}tony.security.ca-file may name a PEM file/,
      ),
    }),
  );
});
