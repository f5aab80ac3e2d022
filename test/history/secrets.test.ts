import { expect, test } from "@jest/globals";
import { withoutSecret, withoutSecrets } from "../../src/history/secrets.ts";
import { aJobSpec, aRole } from "../support/job-spec.ts";

test.each([
  "fs.s3a.secret.key",
  "fs.s3a.access.key",
  "tony.https.keystore.password",
  "my.api-token",
  "tony.notify.url",
])("%s is not told", (key) => {
  expect(withoutSecret(key, "hunter2")).toBe("<redacted>");
});

test("of variables only the names are told", () => {
  expect(withoutSecret("tony.execution.envs", "PGPASSWORD=a\\,b,RATE=0.1")).toBe(
    "PGPASSWORD=<redacted>,RATE=<redacted>",
  );
  const spec = aJobSpec({
    am: { ...aJobSpec().am, notifyUrl: "https://chat.example/hunter2" },
    containerEnvironment: { A: "hunter2" },
    roles: [aRole("worker", 1, { environment: { PGPASSWORD: "hunter2" } })],
  });
  expect(JSON.stringify(withoutSecrets(spec))).not.toContain("hunter2");
  expect(withoutSecrets(spec).roles[0]?.environment).toEqual({ PGPASSWORD: "<redacted>" });
});

test("all else is told as it is", () => {
  expect(withoutSecret("tony.worker.memory", "4g")).toBe("4g");
});
