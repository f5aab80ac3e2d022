import { expect, test } from "@jest/globals";
import type { GssApi, GssCredential } from "../../../../src/hadoop/security/kerberos/gss-api.ts";
import { KerberosLogin } from "../../../../src/hadoop/security/kerberos/login.ts";

test("a ticket is looked for anew each time, and once for all that ask at the same time", async () => {
  const asked: ((credential: GssCredential) => void)[] = [];
  const never = () => Promise.reject(new RangeError("it is not asked"));
  const api: GssApi = {
    acquire: () => new Promise((resolve) => asked.push(resolve)),
    defaultRealm: never,
    realmOf: never,
    initiate: () => {
      throw new RangeError("nobody is called");
    },
  };
  const login = new KerberosLogin(undefined, async () => api);
  for (const principal of ["alice@EXAMPLE.COM", "bob@EXAMPLE.COM"]) {
    const both = [login.credential(), login.credential()];
    await new Promise(setImmediate);
    for (const answer of asked.splice(0, 1)) answer({ principal, remainingSeconds: 60 });
    expect(asked).toEqual([]);
    expect((await Promise.all(both)).map((credential) => credential.principal)).toEqual([principal, principal]);
  }
});
