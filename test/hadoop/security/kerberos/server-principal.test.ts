import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../../src/hadoop/conf/configuration.ts";
import { serverPrincipal } from "../../../../src/hadoop/security/kerberos/server-principal.ts";

const names = {
  canonicalName: async () => "RM1.Example.Com",
  realmOf: async (host: string) => (host.endsWith("other.com") ? "OTHER.COM" : "EXAMPLE.COM"),
};
const key = "yarn.resourcemanager.principal";
const protocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";

/** Whom a client of `host` calls that is offered `rm/serverId`. */
function called(
  values: Record<string, string>,
  { host = "rm1.example.com", service = "rm", serverId = host }: Partial<Record<string, string>> = {},
) {
  const configuration = new Configuration().withValues(values);
  const endpoint = { host, port: 8032 };
  return serverPrincipal(configuration, { protocol, endpoint }, { protocol: service, serverId }, names);
}

describe("the principal of a server", () => {
  test.each([
    ["rm/_HOST@EXAMPLE.COM", {}, "rm/rm1.example.com@EXAMPLE.COM"],
    [
      "rm/_HOST@EXAMPLE.COM",
      { host: "RM1.example.com", serverId: "rm1.example.com" },
      "rm/rm1.example.com@EXAMPLE.COM",
    ],
    ["rm/_HOST@EXAMPLE.COM", { host: "10.0.0.1", serverId: "rm1.example.com" }, "rm/rm1.example.com@EXAMPLE.COM"],
    ["rm/fixed@EXAMPLE.COM", { serverId: "fixed" }, "rm/fixed@EXAMPLE.COM"],
    ["rm/_HOST", {}, "rm/rm1.example.com@EXAMPLE.COM"],
  ])("is %s as configured, with the server's host for _HOST: %j", async (principal, server, expected) => {
    expect(await called({ [key]: principal }, server)).toBe(expected);
  });

  test.each([
    ["another service", { service: "nn" }],
    ["another host", { serverId: "evil.example.com" }],
  ])("%s is not called", async (_name, server) => {
    await expect(called({ [key]: "rm/_HOST@EXAMPLE.COM" }, server)).rejects.toMatchObject({
      code: "KERBEROS_SERVER",
      message: expect.stringMatching(/^The server is .*; yarn.resourcemanager.principal wants rm\/rm1.example.com/),
    });
  });

  test("may be any that matches the pattern, in the realm of its host", async () => {
    const values = { [key]: "rm/_HOST@EXAMPLE.COM", [`${key}.pattern`]: "rm/*.other.com@OTHER.COM" };
    expect(await called(values, { host: "b.other.com" })).toBe("rm/b.other.com@OTHER.COM");
    await expect(called(values)).rejects.toThrow(/The server is rm\/rm1.example.com@EXAMPLE.COM; .*pattern wants/);
  });

  test.each([
    [{}, /yarn.resourcemanager.principal is not set/],
    [{ [key]: "rm@EXAMPLE.COM" }, /is rm@EXAMPLE.COM; service\/host@REALM is wanted/],
    [{ [`${key}.pattern`]: "{rm" }, /is "{rm", which is not a pattern/],
  ])("cannot be told by %j, which the error says", async (values, words) => {
    await expect(called(values)).rejects.toThrow(words);
  });

  test("of a service that takes tokens alone there is none", async () => {
    const scheduler = {
      protocol: "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB",
      endpoint: { host: "h", port: 1 },
    };
    const offer = { protocol: "rm", serverId: "h" };
    await expect(serverPrincipal(new Configuration(), scheduler, offer, names)).rejects.toThrow(
      /not called with Kerberos/,
    );
  });
});
