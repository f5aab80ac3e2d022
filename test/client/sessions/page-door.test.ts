import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { LocalPort } from "../../../client/sessions/local-port.ts";
import { PageDoor } from "../../../client/sessions/page-door.ts";
import { tcpSockets } from "../../../src/tcp-sockets.ts";

const html = Buffer.from("<html><style>a{}</style><script>1</script></html>");
const asked: string[] = [];
let isLost = false;
let door: PageDoor;
let local: LocalPort;

async function open(sockets = tcpSockets): Promise<LocalPort> {
  const opened = await LocalPort.listen(
    { rather: 0 },
    { serve: (socket) => door.serve(socket), failed: () => undefined, refused: () => undefined, sockets },
  );
  return opened;
}

beforeEach(async () => {
  asked.length = 0;
  isLost = false;
  door = new PageDoor({
    html,
    ask: async (path) => {
      asked.push(path);
      if (isLost) throw new Error("lost");
      return `{"rev":1}`;
    },
  });
  local = await open();
});
afterEach(() => local.close());

async function ask(path: string, accept = "*/*", method = "GET", at = local) {
  const [host, port] = at.address.split(":");
  const sent = request({ host, port, path, method, headers: { accept }, agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  const body = await text(response);
  return { status: response.statusCode, policy: response.headers["content-security-policy"], body };
}

describe("a job's page on this machine", () => {
  test("shows the job to who has the token, and the page alone to everybody else", async () => {
    const proof = `application/json; key=${door.token}`;
    expect(await ask("/")).toMatchObject({
      status: 200,
      body: html.toString(),
      policy: expect.stringContaining("'none'"),
    });
    expect(await ask("/api/v1/live?since=7", proof)).toMatchObject({ status: 200, body: `{"rev":1}` });
    for (const accept of ["*/*", "application/json", `application/json; key=${door.token}x`])
      expect(await ask("/api/v1/live?since=8", accept)).toMatchObject({ status: 403 });
    expect(asked).toEqual(["live?since=7"]);
    expect(door.token).not.toBe(new PageDoor({ html, ask: async () => "" }).token);
  });

  test("changes nothing, serves nothing else, and says where its ApplicationMaster is away", async () => {
    const proof = `application/json; key=${door.token}`;
    expect(await ask("/api/v1/live", proof, "POST")).toMatchObject({ status: 405 });
    expect(await ask("/elsewhere", proof)).toMatchObject({ status: 404 });
    expect(asked).toEqual([]);
    isLost = true;
    expect(await ask("/api/v1/live", proof)).toMatchObject({ status: 502 });
  });

  test("is no other user's of this machine", async () => {
    const others = await open(async () => (await tcpSockets()).map((one) => ({ ...one, uid: 4242 })));
    await expect(ask("/", "*/*", "GET", others)).rejects.toMatchObject({ code: "ECONNRESET" });
    others.close();
  });
});
