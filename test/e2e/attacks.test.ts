import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { clientService, executorService } from "../../src/api/definition.ts";
import { OWNER, tokenAccess } from "../../src/api/identity.ts";
import { PROTOCOL_VERSION } from "../../src/api/messages.ts";
import type { SessionOutput } from "../../src/api/session-messages.ts";
import { packageRoot } from "../../src/programs.ts";
import { tcpSockets } from "../../src/tcp-sockets.ts";
import { aRegistration, openStream, register } from "../support/api.ts";
import {
  begunMessage,
  FalseServer,
  Growth,
  type Held,
  RawConnection,
  StrangeProcess,
  secretOfContainer,
  statusOf,
} from "../support/attacker.ts";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { FaultJob, WAITS } from "../support/fault-job.ts";
import { answer, HostileHttpServer } from "../support/hostile-http-server.ts";
import { Inbox } from "../support/inbox.ts";
import { Person } from "../support/person.ts";
import { isRunning } from "../support/processes.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const { alice, bob, carol } = ClusterUser;
const isSecure = cluster.security !== undefined;

/** What the program of worker:0 serves on the loopback of its node alone: it writes down whatever it is asked. */
const SERVER = `
import http.server, os
out = os.environ["OUTPUT"]
class Own(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open(out + "/asked", "a").write(self.path + "\\n")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"her own")
    do_POST = do_GET
server = http.server.HTTPServer(("127.0.0.1", 0), Own)
open(out + "/.port", "w").write(str(server.server_port))
os.rename(out + "/.port", out + "/port")
server.serve_forever()
`;

/** Listens at that port of these addresses, and answers whoever comes. */
const LISTENER = `
import socket, sys, threading
def serve(address):
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, int(sys.argv[1])))
    listener.listen(64)
    print("listens at", listener.getsockname()[1], flush=True)
    while True:
        caller, _ = listener.accept()
        print("caught", caller.recv(4096), flush=True)
        caller.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\nConnection: close\\r\\n\\r\\nevil")
        caller.close()
for address in sys.argv[2:]:
    threading.Thread(target=serve, args=(address,)).start()
`;

/** Connects to that port of this machine, says what he wants, and closes before anybody can look whose the connection is. */
const HIT_AND_RUN = `
import socket, sys
for _ in range(60):
    try:
        caller = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        caller.sendall(b"POST /evil HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\n\\r\\n")
        caller.close()
    except OSError:
        pass
print("done", flush=True)
`;

/** Sends an endless chunked body over each of many connections. */
const BODIES = `
import socket, sys
sent = 0
piece = b"10000\\r\\n" + b"x" * 65536 + b"\\r\\n"
callers = []
for one in range(64):
    caller = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    caller.settimeout(2)
    callers.append(caller)
    try:
        caller.sendall(b"PUT /%s/%d HTTP/1.1\\r\\nHost: x\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n" % (b"s" * 8000, one))
        for _ in range(96):
            caller.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
print("sent", sent >> 20, flush=True)
`;

/** Prints the token that the ResourceManager gives whoever has the ticket for the master of an application. */
const TOKEN = `
const [library, address, id] = process.argv.slice(1);
const { configuredCredentials, kerberosCredentials, loadConfiguration, ResourceManagerClient } = await import(library);
const configuration = loadConfiguration(process.env.HADOOP_CONF_DIR);
const [host, port] = address.split(":");
const credentials = configuredCredentials(configuration, { name: process.env.USER ?? "" }, kerberosCredentials);
const client = new ResourceManagerClient({ endpoints: [{ host, port: Number(port) }], credentials });
const { identifier, password } = await client.clientToken(id);
console.log(Buffer.from(identifier).toString("base64"), Buffer.from(password).toString("base64"));
client.close();
`;
const library = path.join(packageRoot(), "dist", "lib", "src", "hadoop", "main.js");

/** What an ApplicationMaster may grow by while it is attacked: 7 to 15 MiB were seen, and 60 to 100 where more connections were read. */
const MOST_GROWTH_MIB = 32;
/** What an executor may that serves a rendezvous, of 200 MiB that are sent to it: 16 MiB are held, and garbage beside them; 30 MiB were seen. */
const MOST_FLOOD_MIB = 80;

/** gRPC's statuses: what is called without a message comes to the first one, where it was let in. */
const UNSAID = "12";
const UNAUTHENTICATED = "16";

/** As a delegation token in an address. */
const PLANTED = "planted-token";

const FOLLOW = clientService.follow.path;
const LINK = executorService.link.path;

describe("a running job of alice's withstands", () => {
  const people = {
    alice: new Person(cluster, alice),
    bob: new Person(cluster, bob),
    carol: new Person(cluster, carol),
  };
  const strangers: StrangeProcess[] = [];
  let job: FaultJob;
  let master: number;
  let address: string;

  beforeAll(async () => {
    job = await FaultJob.submit(cluster, {
      program: `if [ $TASK_INDEX = 0 ]; then echo $HOROVOD_GLOO_RENDEZVOUS_PORT > $OUTPUT/rendezvous; python3 -c '${SERVER}' & fi; ${WAITS}`,
      settings: {
        // For the door that it opens: the rendezvous of its programs asks nobody who he is.
        "tony.application.framework": "horovod",
        "tony.worker.memory": "1g",
        "tony.application.acl.view": carol,
        "tony.application.acl.modify": bob,
      },
    });
    await job.running(1);
    await job.status("both programs", ({ tasks }) => tasks.every(({ state }) => state === "running"));
    master = await job.master();
    const [, said = ""] = /"event":"am-listening".*"address":"([^"]+)"/.exec(job.masterLog()) ?? [];
    address = said;
  });
  afterAll(async () => {
    await Promise.all(strangers.map((stranger) => stranger.end()));
    await job.dispose();
    await Promise.all(Object.values(people).map((person) => person.leave()));
    await sweep(cluster);
  });

  function strange(program: string, ...words: readonly string[]): StrangeProcess {
    const stranger = new StrangeProcess(program, ...words);
    strangers.push(stranger);
    return stranger;
  }

  /** Where `tony-ts forward` serves that port of worker:0. */
  async function forwarded(port: string) {
    const forward = people.alice.start("forward", job.id, "worker:0", port, "--json");
    const [, local = ""] = await forward.output(/"address":"127\.0\.0\.1:(\d+)"/);
    return { local, forward };
  }

  test("a stranger on the node, at other addresses of its program's port: what is forwarded never comes to him", async () => {
    await eventually("the program's server", () => job.wrote("port"));
    const port = job.read("port");
    const elsewhere = strange(LISTENER, port, ...new Set([...cluster.addresses.nodes, "::1"]));
    await elsewhere.says(/listens/);
    const { local } = await forwarded(port);
    expect(await Promise.all(Array.from({ length: 6 }, () => answerOf(local)))).toEqual(Array(6).fill("her own"));
    expect(elsewhere.said).not.toContain("caught");
  });

  test("a stranger on the node, at a port that is his alone: nothing is forwarded to him", async () => {
    const alone = strange(LISTENER, "0", "127.0.0.1");
    const [, port = ""] = await alone.says(/listens at (\d+)\n/);
    const { local, forward } = await forwarded(port);
    expect(await answerOf(local)).toBe("no answer");
    expect(alone.said).not.toContain("caught");
    forward.process.kill("SIGINT");
    expect((await forward.ended).stderr).toContain(`port ${port} belongs to another user of this node (uid 65534)`);
  });

  test("a stranger on her own machine: nothing that he sends to the forwarded port arrives, however fast he is gone", async () => {
    const { local } = await forwarded(job.read("port"));
    await strange(HIT_AND_RUN, local).says(/done/);
    expect(await answerOf(local)).toBe("her own");
    expect(job.read("asked")).not.toContain("evil");
  });

  test("floods at its ApplicationMaster's door, by strangers and by who may see it: it holds little, and answers its owner", async () => {
    const held = isSecure ? await tokenOf(carol) : undefined;
    const growth = new Growth(master);
    const letIn = await RawConnection.open(address);
    expect(await statusOf(letIn.call(FOLLOW, held).end())).toBe(isSecure ? UNSAID : UNAUTHENTICATED);
    const connections = await Promise.all(Array.from({ length: 12 }, () => RawConnection.open(address)));
    for (const connection of connections) {
      // Messages that do not end, of one who is let in and of one who is not.
      for (let call = 0; call < 8; call += 1) {
        connection.call(FOLLOW, held).write(begunMessage(256 << 10, 200 << 10));
        connection.call(LINK, { name: OWNER, secret: randomBytes(32) }).write(begunMessage(64 << 20, 200 << 10));
      }
    }
    const [first] = connections;
    for (let call = 0; call < 10_000 && first?.isClosed === false; call += 1) first.call(FOLLOW, held);
    const { exitCode, stdout } = await job.command("status");
    expect(stdout).toContain("RUNNING");
    expect(exitCode).toBe(0);
    for (const connection of [letIn, ...connections]) connection.close();
    expect(growth.end()).toBeLessThan(MOST_GROWTH_MIB);
  });

  test("a flood of calls of methods that there are not, and of long headers: its ApplicationMaster cuts strangers off, and answers its owner", async () => {
    const growth = new Growth(master);
    const before = await connectionsAt(address);
    const connections = await Promise.all(Array.from({ length: 12 }, () => RawConnection.open(address)));
    for (const [index, connection] of connections.entries()) {
      const name = index % 2 === 0 ? OWNER : "n".repeat(60_000);
      for (let call = 0; call < 1_000; call += 1) connection.call("/no/method", { name, secret: randomBytes(32) });
    }
    await eventually("the end of each", async () => (await connectionsAt(address)) <= before);
    const { exitCode, stdout } = await job.command("status");
    expect(stdout).toContain("RUNNING");
    expect(exitCode).toBe(0);
    expect(growth.end()).toBeLessThan(MOST_GROWTH_MIB);
  });

  test("a flood of connections that begin to speak and do not go on: its ApplicationMaster holds few, and answers its owner meanwhile", async () => {
    const growth = new Growth(master);
    const { hostname, port } = new URL(`https://${address}`);
    const connections = Array.from({ length: 1_000 }, () => {
      const connection = connect(Number(port), hostname);
      // The head of a record of TLS, and some of it.
      connection.on("error", () => undefined).write(Buffer.from("16030140000100", "hex"));
      connection.write(Buffer.alloc(16_000));
      return connection;
    });
    const { exitCode, stdout } = await job.command("status");
    expect(stdout).toContain("RUNNING");
    expect(exitCode).toBe(0);
    for (const connection of connections) connection.destroy();
    expect(growth.end()).toBeLessThan(MOST_GROWTH_MIB);
    await eventually("the flood's end", async () => (await connectionsAt(address)) < 16);
  });

  test("who may end it and not run anything in it, and who may see it: neither is in a container of hers", async () => {
    for (const person of [people.bob, people.carol]) {
      const { exitCode, stdout, stderr } = await person.run("exec", job.id, "worker:0", "--", "id");
      expect(stderr).toMatch(/may not run anything in this job|it is alice's/);
      expect([exitCode, stdout]).toEqual([3, ""]);
    }
  });

  test("a flood of endless bodies at the rendezvous that one of its executors serves", async () => {
    await eventually("the rendezvous", () => job.wrote("rendezvous"));
    const executor = await job.executor(job.starts()[0]?.containerId);
    const growth = new Growth(executor);
    await strange(BODIES, cluster.addresses.nodes[0] ?? "", job.read("rendezvous").trim()).says(/sent/);
    expect(growth.end()).toBeLessThan(MOST_FLOOD_MIB);
  });

  test("a task of it that has its executor's secret: it speaks for no other, and puts no words into others' commands", async () => {
    const [first, second] = job.starts();
    const own = secretOfContainer(cluster, job.id, second?.containerId ?? "");
    const asOther = await registered({ ...own, name: first?.containerId ?? "" }, { task: "worker:0" });
    expect(asOther).toEqual(["API_UNAUTHENTICATED"]);
    expect(await registered(own, { task: "worker:1", containerId: first?.containerId ?? "" })).toEqual(["refuse"]);
    expect(await registered(own, { task: "worker:1", host: "$(id)" })).toEqual(["refuse"]);
    // Thousands of ports, which would take the ApplicationMaster a minute to read one after the other.
    const ports = Object.fromEntries(Array.from({ length: 8_000 }, (_, port) => [`own-port-${port}`, port]));
    expect(await registered(own, { task: "worker:1", ports })).toEqual(["refuse"]);
    expect(await job.command("status")).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("worker:1") });
    const connection = await RawConnection.open(address);
    // Of what clients may ask it may nothing.
    const asked = Object.values(clientService).map(({ path }) => statusOf(connection.call(path, own)));
    expect(await Promise.all(asked)).toEqual(asked.map(() => UNAUTHENTICATED));
    connection.close();
  });

  test("sessions of a task with another one, as many as it gets: its owner gets in", async () => {
    const [, second] = job.starts();
    const own = secretOfContainer(cluster, job.id, second?.containerId ?? "");
    const { stream } = openStream({ identity: { applicationId: job.id, caller: own }, address });
    const heard = new Inbox<SessionOutput>();
    const hello = { protocol: PROTOCOL_VERSION, build: "theirs" };
    const wanted = { type: "command", words: ["cat"] } as const;
    for (let count = 0; count < 64; count += 1) {
      const session = stream.openSession();
      void session.receive(async (message) => heard.put(message)).catch(() => undefined);
      await session.send({ type: "open", hello, task: "worker:0", wanted });
    }
    const first = await Promise.all(Array.from({ length: 64 }, () => heard.next()));
    expect(first.filter(({ type }) => type === "started")).toHaveLength(16);
    const ran = await people.alice.run("exec", job.id, "worker:0", "--", "echo", "hers");
    expect(ran).toMatchObject({ exitCode: 0, stdout: "hers\n" });
    stream.close();
  });

  test("the secret of a container that has ended: who kept it is told nothing, and takes no log away", async () => {
    const [first] = await job.running(1);
    const kept = secretOfContainer(cluster, job.id, first?.containerId ?? "");
    const before = openStream({ identity: { applicationId: job.id, caller: kept }, address });
    const session = before.stream.openSession();
    const heard = new Inbox<SessionOutput>();
    void session.receive(async (message) => heard.put(message));
    const hello = { protocol: PROTOCOL_VERSION, build: "theirs" };
    const wanted = { type: "command", words: ["cat"] } as const;
    await session.send({ type: "open", hello, task: "worker:1", wanted });
    expect(await heard.next()).toMatchObject({ type: "started" });
    const changes = before.stream.watch({ hello, from: "shared/", to: "shared0" }, new AbortController().signal);
    expect(await changes.next()).toMatchObject({ done: false });
    process.kill(await job.executor(first?.containerId), "SIGKILL");
    await job.running(2);
    await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    for (const task of ["worker:0", "worker:1", "x".repeat(200_000)]) {
      const said = await registered(kept, { task });
      expect(said).toEqual(["welcome", "exit"]);
    }
    // Nor does he keep what he opened while it was a part of the job.
    expect(await heard.next()).toMatchObject({ type: "failed" });
    await expect(changes.next()).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    before.stream.close();
    const connection = await RawConnection.open(address);
    const opened = connection.call(executorService.openSession.path, kept);
    opened.end();
    expect(await statusOf(opened)).not.toBe("0");
    connection.close();
    expect(await job.command("logs", "worker:0")).toMatchObject({ exitCode: 0 });
    const ran = await people.alice.run("exec", job.id, "worker:0", "--", "echo", "hers");
    expect(ran).toMatchObject({ exitCode: 0, stdout: "hers\n" });
  });

  test.each([
    ["answers as if it were HDFS", answer(200, { Path: "/user/alice", FileStatuses: { FileStatus: [] } })],
    ["sends her on with a token", answer(307, "", [`Location: http://127.0.0.2:9/webhdfs/v1/?delegation=${PLANTED}`])],
    ["quotes a token", answer(403, { RemoteException: { exception: "E", message: `?delegation=${PLANTED}` } })],
  ])(
    "a web server that her client is led to, which %s: it is not believed, and nothing of a token is printed",
    async (_what, behaviour) => {
      const web = await HostileHttpServer.start();
      try {
        web.behave(behaviour);
        const words = ["cache", "list", "--conf", `tony.hdfs.endpoint=${web.address}`];
        const { exitCode, stdout, stderr } = await people.alice.run(...words);
        expect(exitCode).toBe(3);
        expect(`${stdout}${stderr}`).not.toContain(PLANTED);
        expect(stdout).toBe("");
      } finally {
        await web.stop();
      }
    },
  );

  test("who takes the port of an ApplicationMaster that is gone: neither its executors nor her client believe him, and the job goes on", async () => {
    const before = job.starts().filter(({ generation }) => generation === 2);
    process.kill(await job.master(), "SIGKILL");
    const evil = await FalseServer.listen(address);
    try {
      await job.status("the second attempt", ({ attempt }) => attempt === 2);
      expect(evil.asked.length).toBeGreaterThan(0);
      expect(evil.messages).toBe(0);
      expect(before.map(({ pid }) => isRunning(pid))).toEqual([true, true]);
    } finally {
      evil.close();
    }
    const { exitCode, stdout, stderr } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0/);
    expect(`${stdout}${stderr}`).not.toContain("evil");
    expect(exitCode).toBe(0);
  });

  /** What comes of a registration: what kinds of messages the ApplicationMaster sends, and the code of the error that ends it. */
  async function registered(held: Held, changes: Parameters<typeof aRegistration>[0]): Promise<string[]> {
    const identity = { applicationId: job.id, caller: held };
    const { stream, messages, ends } = openStream({ identity, address });
    stream.send(register(aRegistration({ containerId: held.name, ...changes })));
    const error = await ends.next();
    return [...messages.rest.map(({ body }) => body.type), ...(error === undefined ? [] : [error.code])];
  }

  /** What the ResourceManager gives a user who may see the job, by his ticket. */
  async function tokenOf(user: string): Promise<Held> {
    const words = ["--input-type=module", "--eval", TOKEN, library, cluster.endpoints.resourceManagerRpc, job.id];
    const env = { ...process.env, ...environmentFor(cluster, user) };
    const { stdout } = await promisify(execFile)(process.execPath, words, { env });
    const [identifier = "", password = ""] = stdout.split(" ");
    const token = { identifier: Buffer.from(identifier, "base64"), password: Buffer.from(password, "base64") };
    return tokenAccess(job.id, token).caller;
  }
});

/** How many there are at a port of a job on this machine. */
async function connectionsAt(address: string): Promise<number> {
  const port = Number(new URL(`https://${address}`).port);
  return (await tcpSockets()).filter(({ listens, localPort }) => !listens && localPort === port).length;
}

/** What a server on this machine answers; nothing where the connection fails. */
function answerOf(port: string): Promise<string> {
  return new Promise((resolve) => {
    const call = httpRequest({ host: "127.0.0.1", port, path: "/hers", agent: false, timeout: 60_000 }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve(text));
    });
    call.on("error", () => resolve("no answer"));
    call.on("timeout", () => call.destroy());
    call.end();
  });
}
