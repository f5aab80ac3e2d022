import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  type AuthenticationStrategy,
  ContainerLogs,
  type CredentialsProvider,
  type HttpAuthentication,
  type HttpService,
  ResourceManagerClient,
  type RpcService,
  SchedulerClient,
  type SecurityLayer,
  WebHdfs,
} from "../../src/hadoop/main.ts";
import { FrameReader } from "../../src/hadoop/rpc/frame.ts";
import { common } from "../../src/hadoop/wire/common.ts";
import { yarn } from "../../src/hadoop/wire/yarn.ts";
import { listenLocally, localAddress } from "../support/local-port.ts";
import {
  type Behaviour,
  callOf,
  failureFrame,
  RpcTestServer,
  replyFrame,
  type ServedConnection,
  saslOf,
  saslReply,
} from "../support/rpc-server.ts";

/**
 * A security mechanism that the library does not know: each side adds one to the other's number. Tickets expire, and over RPC it
 * negotiates a layer. It comes from outside, as Kerberos can: no client is told more than its credentials.
 */
class Tickets implements CredentialsProvider {
  /** The ticket that is valid; the ones before it have expired. */
  current = 1;
  #held = 1;
  readonly asked: (RpcService | HttpService)[] = [];
  readonly #cookies = new Map<string, string>();

  user = async () => "ada";

  async forRpc(service: RpcService): Promise<readonly AuthenticationStrategy[]> {
    this.asked.push(service);
    const ticket = this.#held;
    return [
      {
        method: "TICKET",
        mechanism: "PLUS-ONE",
        user: { name: "ada@EXAMPLE" },
        start: async ({ protocol, serverId }) => ({
          respond: async (challenge) => Buffer.from(`${protocol}/${serverId}:${ticket}:${Number(challenge) + 1}`),
          complete: async () => mirrored,
        }),
      },
    ];
  }

  async forHttp(service: HttpService): Promise<HttpAuthentication> {
    this.asked.push(service);
    const { origin } = service.url;
    return {
      begin: () => {
        const cookie = this.#cookies.get(origin);
        return cookie === undefined ? {} : { headers: { cookie } };
      },
      respond: async (challenges) => {
        const number = /^PlusOne (\d+)$/.exec(challenges[0] ?? "")?.[1];
        if (number === undefined) return undefined;
        return { headers: { authorization: `PlusOne ${this.#held}:${Number(number) + 1}` } };
      },
      complete: (headers) => {
        const [cookie] = [headers["set-cookie"] ?? []].flat();
        if (cookie !== undefined) this.#cookies.set(origin, cookie);
      },
    };
  }

  async renewed(): Promise<boolean> {
    const stale = this.#held !== this.current;
    this.#held = this.current;
    return stale;
  }
}

/** The security layer: every byte turned over. */
const mirrored: SecurityLayer = {
  maxMessageBytes: 100,
  wrap: (message) => Buffer.from(message.map((byte) => byte ^ 0xff)),
  unwrap: (message) => Buffer.from(message.map((byte) => byte ^ 0xff)),
};

const { SaslState } = common.RpcSaslProto;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An RPC server that takes tickets alone, and answers each call with `answer`. */
async function rpcServer(tickets: Tickets, answer: Uint8Array): Promise<RpcTestServer> {
  const auth = {
    method: "TICKET",
    mechanism: "PLUS-ONE",
    protocol: "rm",
    serverId: "host",
    challenge: Buffer.from("41"),
  };
  const inner = new WeakMap<ServedConnection, FrameReader>();
  const behaviour: Behaviour = {
    onFrame: (connection, frame) => {
      const { state, token } = saslOf(frame);
      if (state === SaslState.NEGOTIATE) {
        connection.socket.write(saslReply({ state: SaslState.NEGOTIATE, auths: [auth] }));
      } else if (state === SaslState.INITIATE) {
        const valid = Buffer.from(token).toString() === `rm/host:${tickets.current}:42`;
        inner.set(connection, new FrameReader());
        connection.socket.write(
          valid
            ? saslReply({ state: SaslState.SUCCESS })
            : failureFrame(-33, "FATAL", "x.SaslException", "expired", 15),
        );
      } else {
        for (const unwrapped of inner.get(connection)?.push(mirrored.unwrap(token)) ?? []) {
          const call = callOf(unwrapped);
          const reply = call === undefined ? undefined : mirrored.wrap(replyFrame(call.callId, answer));
          if (reply !== undefined) connection.socket.write(saslReply({ state: SaslState.WRAP, token: reply }));
        }
      }
    },
  };
  const server = await RpcTestServer.start(behaviour);
  closing.push(() => server.stop());
  return server;
}

/** A web server that asks everybody who has no cookie of the valid ticket. @returns `host:port` */
async function webServer(
  tickets: Tickets,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server: Server = createServer((request, response) => {
    const cookie = `ticket=${tickets.current}`;
    if (request.headers.cookie === cookie) {
      serve(request, response);
    } else if (request.headers.authorization === `PlusOne ${tickets.current}:8`) {
      response.setHeader("set-cookie", cookie);
      serve(request, response);
    } else {
      request.resume();
      response.writeHead(401, { "www-authenticate": "PlusOne 7" }).end("who are you?");
    }
  });
  await listenLocally(server);
  closing.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => server.closeAllConnections(),
  );
  return localAddress(server);
}

let tickets: Tickets;
beforeEach(() => {
  tickets = new Tickets();
});

describe("a mechanism from outside, over RPC", () => {
  const metrics = yarn.GetClusterMetricsResponseProto.encode({
    cluster_metrics: { num_node_managers: 3, num_active_nms: 2 },
  }).finish();

  function resourceManager(server: RpcTestServer, credentials: CredentialsProvider): ResourceManagerClient {
    const client = new ResourceManagerClient({ endpoints: [server.endpoint], credentials });
    closing.push(() => client.close());
    return client;
  }

  test("settles who calls, and protects what follows", async () => {
    const server = await rpcServer(tickets, metrics);
    expect(await resourceManager(server, tickets).metrics()).toMatchObject({ activeNodeManagers: 2 });
    const { endpoint } = server;
    expect(tickets.asked).toEqual([
      {
        transport: "rpc",
        protocol: "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB",
        endpoint,
        endpoints: [endpoint],
        token: undefined,
      },
    ]);
  });

  test("what has expired is renewed once, and the call goes again", async () => {
    const server = await rpcServer(tickets, metrics);
    tickets.current = 2;
    expect(await resourceManager(server, tickets).metrics()).toMatchObject({ activeNodeManagers: 2 });
    expect(server.connections).toHaveLength(2);
  });

  test("a refusal after which there is nothing newer is the caller's", async () => {
    const server = await rpcServer(tickets, metrics);
    const without = { ...credentialsOf(tickets), renewed: async () => false };
    tickets.current = 2;
    await expect(resourceManager(server, without).metrics()).rejects.toMatchObject({ javaMessage: "expired" });
    expect(server.connections).toHaveLength(1);
  });

  test("is shown the token that YARN gave for a service", async () => {
    const response = yarn.RegisterApplicationMasterResponseProto.encode({ queue: "root.ml" }).finish();
    const server = await rpcServer(tickets, response);
    const token = { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind: "YARN_AM_RM_TOKEN", service: "" };
    const scheduler = new SchedulerClient({ endpoints: [server.endpoint], token, credentials: tickets });
    closing.push(() => scheduler.close());
    expect(await scheduler.register({ host: "h", rpcPort: 0, trackingUrl: "" })).toMatchObject({ queue: "root.ml" });
    expect(tickets.asked).toMatchObject([{ transport: "rpc", token }]);
  });

  test("a provider that fails ends the call with its own error", async () => {
    const server = await rpcServer(tickets, metrics);
    const cause = new Error("the ticket cache is empty");
    const failing = { ...credentialsOf(tickets), forRpc: () => Promise.reject(cause) };
    await expect(resourceManager(server, failing).metrics()).rejects.toMatchObject({
      code: "RPC_AUTHENTICATION",
      message: expect.stringMatching(/ticket cache is empty/),
    });
  });
});

describe("a mechanism from outside, over HTTP", () => {
  const status = { pathSuffix: "", type: "FILE", length: 3, modificationTime: 1, accessTime: 1, permission: "644" };
  const isWhole = JSON.stringify({ FileStatus: { ...status, owner: "ada", group: "g" } });

  /** A NameNode or HttpFS in one: takes a file and tells its length. */
  async function hdfs(tickets: Tickets, { gateway = false } = {}) {
    const received: string[] = [];
    const address = await webServer(tickets, (request, response) => {
      void text(request).then((body) => {
        if (request.method === "PUT") received.push(body);
        response.end(request.method === "PUT" ? "" : isWhole);
      });
    });
    const files = new WebHdfs({
      uri: "hdfs://ns",
      endpoints: [`http://${address}`],
      tokenService: "ha-hdfs:ns",
      gateway,
      credentials: tickets,
    });
    closing.push(() => files.close());
    return { files, received, address };
  }

  test("answers the server's 401, keeps its cookie, and names no user of its own", async () => {
    const { files, address } = await hdfs(tickets);
    expect(await files.stat("/f")).toMatchObject({ lengthBytes: 3 });
    expect(await files.stat("/f")).toMatchObject({ lengthBytes: 3 });
    const url = new URL(`http://${address}/webhdfs/v1/f?op=GETFILESTATUS`);
    const asked = { transport: "http", url, tokenService: "ha-hdfs:ns", redirected: undefined };
    expect(tickets.asked).toEqual([asked, asked].map((service) => ({ ...service, redirected: false })));
  });

  test("a body is sent again from its start after a 401", async () => {
    const { files, received } = await hdfs(tickets, { gateway: true });
    await files.create("/f", Buffer.from("abc"), { permission: 0o600, overwrite: true });
    expect(received).toEqual(["abc"]);
  });

  test("what has expired is renewed once; a server that still asks is a failed sign-in", async () => {
    const { files } = await hdfs(tickets);
    tickets.current = 2;
    expect(await files.stat("/f")).toMatchObject({ lengthBytes: 3 });
    tickets.current = 3;
    Object.assign(tickets, { renewed: async () => false });
    await expect(files.stat("/f")).rejects.toMatchObject({ code: "AUTHENTICATION_FAILED" });
  });

  test("a DataNode is shown a proof only when it asks: the redirect holds what lets us in", async () => {
    const seen: (string | undefined)[] = [];
    const data = createServer((request, response) => {
      seen.push(request.headers.cookie ?? request.headers.authorization);
      response.end("abc");
    });
    await listenLocally(data);
    closing.push(
      () => new Promise((resolve) => data.close(resolve)),
      () => data.closeAllConnections(),
    );
    const nameNode = await webServer(tickets, (_request, response) => {
      response.end(JSON.stringify({ Location: `http://${localAddress(data)}/webhdfs/v1/f?op=OPEN&delegation=abc` }));
    });
    const files = new WebHdfs({ uri: "hdfs://ns", endpoints: [`http://${nameNode}`], credentials: tickets });
    closing.push(() => files.close());
    expect(await text(await files.open("/f"))).toBe("abc");
    expect(seen).toEqual([undefined]);
  });

  test("a server that fails to prove itself is not believed", async () => {
    const doubting = {
      ...credentialsOf(tickets),
      forHttp: async (): Promise<HttpAuthentication> => ({
        begin: () => ({ headers: { cookie: `ticket=${tickets.current}` } }),
        complete: (headers) => {
          if (headers["www-authenticate"] === undefined) throw new Error("no proof in the answer");
        },
      }),
    };
    const address = await webServer(tickets, (_request, response) => void response.end(isWhole));
    const files = new WebHdfs({ uri: "hdfs://ns", endpoints: [`http://${address}`], credentials: doubting });
    closing.push(() => files.close());
    await expect(files.stat("/f")).rejects.toMatchObject({
      code: "AUTHENTICATION_FAILED",
      message: expect.stringMatching(/no proof in the answer/),
    });
  });

  test("a NodeManager's web server is asked with the same credentials", async () => {
    const listing = {
      containerLogsInfo: { logAggregationType: "LOCAL", containerLogInfo: [{ fileName: "stdout", fileSize: "5" }] },
    };
    const node = await webServer(tickets, (_request, response) => void response.end(JSON.stringify(listing)));
    const logs = new ContainerLogs({ credentials: tickets });
    closing.push(() => logs.close());
    expect(await logs.list(node, "container_1_0001_01_000001")).toEqual([{ name: "stdout", lengthBytes: 5 }]);
  });
});

/** A provider's methods as a plain object, some of which a test replaces. */
function credentialsOf(tickets: Tickets): CredentialsProvider {
  return {
    user: tickets.user,
    forRpc: (service) => tickets.forRpc(service),
    forHttp: (service) => tickets.forHttp(service),
    renewed: () => tickets.renewed(),
  };
}
