import { connect, createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { holdPort, holdReusablePort, takenPorts } from "../../../executor/program/ports.ts";
import { candidatePorts } from "../../../src/listening.ts";
import { deferred } from "../../support/deferred.ts";

const held: { release(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(held.splice(0).map((port) => port.release()));
});

function listen(port: number, host?: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, ...(host !== undefined && { host }) }, () => resolve(server));
  });
}

async function hold(options: Parameters<typeof holdPort>[0], by = holdPort) {
  const port = await by(options);
  held.push(port);
  return port;
}

describe("a task's port", () => {
  it("is nobody else's while it is held, and the program's at once afterwards", async () => {
    const { port, release } = await hold({ random: () => 0 });
    await expect(listen(port)).rejects.toMatchObject({ code: "EADDRINUSE" });
    await release();
    const server = await listen(port);
    server.close();
  });

  it("turns away who comes too early", async () => {
    const { port } = await hold({ random: () => 0 });
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    const sent = await new Promise<number>((resolve) => socket.once("close", () => resolve(socket.bytesRead)));
    expect(sent).toBe(0);
  });

  it("answers requests until it is released, which ends those that still wait for their answer", async () => {
    const { port, serve, release } = await hold({ random: () => 0 });
    const { promise: asked, resolve: heard } = deferred();
    serve((request, response) => {
      if (request.url === "/now") response.end("here");
      else heard();
    });
    expect(await (await fetch(`http://127.0.0.1:${port}/now`)).text()).toBe("here");
    const waiting = fetch(`http://127.0.0.1:${port}/never`);
    const lost = expect(waiting).rejects.toThrow();
    await asked;
    await release();
    await lost;
    (await listen(port)).close();
  });

  it("is of the range, past those that are taken", async () => {
    const first = await hold({ random: () => 0 });
    const ports = { from: first.port, to: first.port + 20 };
    const second = await hold({ ports, random: () => 0 });
    expect(second.port).toBeGreaterThan(first.port);
    expect(second.port).toBeLessThanOrEqual(ports.to);
  });

  it.each([
    ["holdPort", holdPort],
    ["holdReusablePort", holdReusablePort],
  ])("is an error that names the key when the whole range is taken (%s)", async (_name, by) => {
    const { port } = await hold({ random: () => 0 });
    await expect(by({ ports: { from: port, to: port }, random: () => 0 })).rejects.toMatchObject({
      ...{ code: "NO_FREE_PORT", retryable: true },
      message: `Every port of ${port}-${port} is taken on this machine: widen tony.task.port-range`,
    });
  });

  it("is held at the address of this machine that is asked for, and at no other machine's", async () => {
    const { port } = await hold({ host: "127.0.0.1", random: () => 0 });
    (await listen(port, "127.0.0.2")).close();
    await expect(listen(port, "127.0.0.1")).rejects.toMatchObject({ code: "EADDRINUSE" });
    await expect(holdPort({ host: "192.0.2.1", random: () => 0 })).rejects.toMatchObject({ code: "EADDRNOTAVAIL" });
  });

  it("may be released twice", async () => {
    for (const by of [holdPort, holdReusablePort]) {
      const { port, release } = await by({ random: () => 0 });
      await release();
      await release();
      expect(await takenPorts([port])).toEqual([]);
    }
  });

  it("is another's where that has it at any address; one that is nobody's stays so", async () => {
    const server = await listen(0, "127.0.0.2");
    const address = server.address();
    const taken = typeof address === "object" ? (address?.port ?? 0) : 0;
    const free = await hold({ random: () => 0 });
    await free.release();
    expect(await takenPorts([free.port, taken])).toEqual([taken]);
    (await listen(free.port)).close();
    server.close();
  });

  it("cannot be held by SO_REUSEPORT where python3 fails, either", async () => {
    await expect(holdReusablePort({ random: () => 0 }, "/bin/false")).rejects.toMatchObject({
      ...{ code: "REUSE_PORT_UNAVAILABLE", message: expect.stringContaining("it exited with 1") },
    });
  });

  it("cannot be held by SO_REUSEPORT without without python3, which the error says", async () => {
    await expect(holdReusablePort({ random: () => 0 }, "/no/such/python3")).rejects.toMatchObject({
      code: "REUSE_PORT_UNAVAILABLE",
      message: expect.stringMatching(/tony\.task\.reuse-port needs python3/),
    });
  });
});

describe("the ports that are tried", () => {
  it("are all of the range, each once, beginning anywhere", () => {
    const range = fc
      .tuple(fc.integer({ min: 1, max: 65_000 }), fc.nat(500))
      .map(([from, more]) => ({ from, to: from + more }));
    fc.assert(
      fc.property(range, fc.double({ min: 0, max: 0.999_999, noNaN: true }), ({ from, to }, random) => {
        const ports = candidatePorts({ from, to }, () => random);
        expect([...ports].sort((a, b) => a - b)).toEqual(
          Array.from({ length: to - from + 1 }, (_, index) => from + index),
        );
      }),
    );
  });

  it("are any without a range", () => {
    expect(candidatePorts(undefined, () => 0.5)).toEqual([0]);
  });
});

it("a port at which something is served answers until it is released, and is anybody's then", async () => {
  const { port, serve, release } = await holdPort({ random: () => 0 });
  serve((_request, response) => response.end("here"));
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("here");
  await release();
  const server = await listen(port);
  server.close();
});
