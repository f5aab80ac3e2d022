import { createHmac } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { ClientRights, localNames } from "../../../am/clients/client-rights.ts";
import { type ClientAccess, clientAccess, makeIdentity, OWNER, tokenAccess } from "../../../src/api/identity.ts";
import { MasterClient } from "../../../src/api/master-client.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { clientTokenPassword } from "../../../src/hadoop/yarn/client-token.ts";
import type { AccessLists } from "../../../src/job/access-list.ts";
import { noClients, startMaster } from "../../support/api.ts";

const takingStops = { ...noClients, stop: () => true };
const identity = makeIdentity("application_1_0001");
const tokenKey = Buffer.from("of this attempt");

/** ClientToAMTokenIdentifierProto as Java writes it: an attempt's id, and a name. */
function identifierOf(name: string): Buffer {
  return Buffer.concat([Buffer.from([0x0a, 0x02, 0x10, 0x01, 0x12, name.length]), Buffer.from(name)]);
}

/** The name by which somebody comes who has the ResourceManager's token. */
function withToken(name: string): string {
  const identifier = identifierOf(name);
  return tokenAccess(identity.applicationId, { identifier, password: clientTokenPassword(tokenKey, identifier) }).caller
    .name;
}

function rights(
  spec: AccessLists,
  groups: Record<string, string[]> = {},
  rules = "DEFAULT",
  key: () => Uint8Array | undefined = () => tokenKey,
) {
  const site = { "yarn.resourcemanager.principal": "rm/_HOST@TONY.TEST", "hadoop.security.auth_to_local": rules };
  return new ClientRights({
    identity,
    user: "alice",
    spec,
    localNameOf: localNames(new Configuration().withValues(site)),
    tokenKey: key,
    groupsOf: async (user) => groups[user] ?? [],
  });
}

describe("the door for clients", () => {
  it("knows the secret of who may read the staging folder, and of who has a token for this attempt", () => {
    const door = rights({});
    expect(door.secretOf(OWNER)).toEqual(clientAccess(identity).caller.secret);
    const password = createHmac("sha1", tokenKey).update(identifierOf("carol@TONY.TEST")).digest();
    expect(door.secretOf(withToken("carol@TONY.TEST"))).toEqual(password);
    expect(door.secretOf("container_1_0001_01_000002")).toBeUndefined();
  });

  it("takes no token where the cluster gives none", () => {
    const door = rights({ viewAcl: "*" }, {}, "DEFAULT", () => undefined);
    expect(door.secretOf(withToken("carol@TONY.TEST"))).toBeUndefined();
  });

  const acl = { viewAcl: "carol,dave ml", modifyAcl: "dave,frank", runAcl: "grace" };
  it.each([
    ["the owner, from another machine", "alice@TONY.TEST", ["view", "modify", "run"]],
    ["a viewer", "carol@TONY.TEST", ["view"]],
    ["who is in both lists", "dave@TONY.TEST", ["view", "modify"]],
    ["who may end it, and is no viewer's name", "frank@TONY.TEST", ["view", "modify"]],
    ["who may run something in it", "grace@TONY.TEST", ["view", "modify", "run"]],
    ["a member of a viewing group", "erin@TONY.TEST", ["view"]],
    ["anybody else", "bob@TONY.TEST", []],
    ["a namesake of another realm", "alice@EVIL.TEST", []],
    ["a service that the cluster, too, calls by the viewer's name", "carol/host@TONY.TEST", ["view"]],
    ["nobody's name", "", []],
  ])("%s", async (_who, name, mayDo) => {
    const door = rights(acl, { erin: ["users", "ml"], bob: ["users"] });
    const may: string[] = [];
    for (const right of ["view", "modify", "run"] as const) {
      if ((await door.refusal(withToken(name), right)) === undefined) may.push(right);
    }
    expect(may).toEqual(mayDo);
  });

  it("calls principals as the cluster's rules do", async () => {
    const rules =
      "RULE:[1:$1@$0](.*@CORP)s/@CORP// RULE:[2:$1_svc@$0](.*@TONY.TEST)s/@.*// RULE:[1:$1@$0](alice@TONY.TEST)s/.*/root_alice/";
    const door = rights({ viewAcl: "carol" }, {}, rules);
    const sees = async (name: string) => (await door.refusal(withToken(name), "view")) === undefined;
    expect(await sees("carol@CORP")).toBe(true);
    expect(await sees("alice@CORP")).toBe(true);
    expect(await sees("alice@TONY.TEST")).toBe(false);
    expect(await sees("carol/host@TONY.TEST")).toBe(false);
    expect(await sees("carol@TONY.TEST")).toBe(false);
  });

  it("is that of the ApplicationMaster's server", async () => {
    const { server, address } = await startMaster({
      identity,
      door: rights({ viewAcl: "carol" }),
      clients: takingStops,
    });
    const stop = async (access: ClientAccess) => {
      const client = new MasterClient({ address, access, build: "test" });
      const answer = await client.stop("enough", 60_000).catch(({ code }: { readonly code: string }) => code);
      client.close();
      return answer;
    };
    const identifier = identifierOf("carol@TONY.TEST");
    const carols = { identifier, password: clientTokenPassword(tokenKey, identifier) };
    const forged = { identifier, password: clientTokenPassword(Buffer.from("of an earlier attempt"), identifier) };
    expect(await stop(clientAccess(identity))).toBe(true);
    expect(await stop(tokenAccess(identity.applicationId, carols))).toBe("API_FORBIDDEN");
    expect(await stop(tokenAccess(identity.applicationId, forged))).toBe("API_UNAUTHENTICATED");
    await server.close(0);
  });

  it("lets everybody of the realm in by *, and nobody by default", async () => {
    expect(await rights({ viewAcl: "*" }).refusal(withToken("bob@TONY.TEST"), "view")).toBeUndefined();
    expect(await rights({}).refusal(withToken("bob@TONY.TEST"), "view")).toBe(
      "bob@TONY.TEST may not see this job: it is alice's, and its tony.application.acl.view does not let others",
    );
  });

  it("lets the owner of the staging folder do everything", async () => {
    expect(await rights({}).refusal(OWNER, "modify")).toBeUndefined();
  });

  it.each([
    ["cut short", Buffer.from([0x12, 0x20, 0x61])],
    ["no identifier", Buffer.from("xyz")],
  ])("lets nobody in by bytes that are %s", async (_what, identifier) => {
    const { caller } = tokenAccess("a", { identifier, password: Buffer.alloc(0) });
    expect(await rights({ viewAcl: "carol" }).refusal(caller.name, "view")).toContain("may not see");
  });
});
