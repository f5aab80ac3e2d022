import { execFile } from "node:child_process";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { Person } from "../../support/person.ts";
import { pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();
const run = promisify(execFile);
const token = "a-token-of-the-test";
const withToken = { JUPYTER_TOKEN: token };

function fetched(url: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { headers }, resolve).on("error", reject));
}

/** Runs a cell by the kernel's websocket, from the environment's own Python. @returns what it printed */
const cell = `
import asyncio, json, os, sys, uuid, urllib.request
from tornado.websocket import websocket_connect
base, token = sys.argv[1], os.environ["JUPYTER_TOKEN"]
request = urllib.request.Request(base + "/api/kernels", b'{"name": "python3"}', {"Authorization": "token " + token})
kernel = json.load(urllib.request.urlopen(request))["id"]

async def main():
    socket = await websocket_connect(f"{base.replace('http', 'ws')}/api/kernels/{kernel}/channels?token={token}")
    header = {"msg_id": uuid.uuid4().hex, "username": "", "session": uuid.uuid4().hex, "msg_type": "execute_request", "version": "5.3"}
    content = {"code": "import os; print(6 * 7, os.environ['JOB_NAME'])", "silent": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    await socket.write_message(json.dumps(message))
    while True:
        heard = json.loads(await socket.read_message())
        if heard["msg_type"] == "stream":
            return print(heard["content"]["text"], end="")

asyncio.run(main())
`;

describe("a notebook", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("is JupyterLab in a container, which asks for a token that no log has, and ends with its client", async () => {
    const python = await pythonEnvironment("notebook");
    const notebook = alice.startWith(withToken, "notebook", "--python_binary_path", python);
    const [, id = ""] = await notebook.output(/(application_\d+_\d+)/);
    const [, base = ""] = await notebook.output(/(http:\/\/127\.0\.0\.1:\d+)\/lab \(its token is in JUPYTER_TOKEN\)/);
    expect((await fetched(`${base}/api/kernels`)).statusCode).toBe(403);
    const page = await fetched(`${base}/lab`, { Authorization: `token ${token}` });
    expect([page.statusCode, await text(page)]).toEqual([200, expect.stringContaining("JupyterLab")]);
    const { stdout: printed } = await run(python, ["-c", cell, base], { env: { ...process.env, ...withToken } });
    expect(printed).toBe("42 notebook\n");
    const folder = await alice.run("exec", id, "notebook:0", "--", "stat", "-c", "%a", ".jupyter");
    expect(folder.stdout).toBe("700\n");

    notebook.process.kill("SIGINT");
    expect(await notebook.ended).toMatchObject({ exitCode: 4, stdout: expect.not.stringContaining(token) });
    const logs = await Promise.all(["am", "notebook:0"].map((task) => alice.run("logs", id, task)));
    expect(logs.map(({ stdout }) => stdout.includes(token))).toEqual([false, false]);
    expect(logs[0]?.stdout).toMatch(/alice(@\S+)? opens a connection in notebook:0/);
  });

  test("says which Python has no JupyterLab", async () => {
    const { exitCode, stdout } = await alice.startWith(
      withToken,
      "notebook",
      "--python_binary_path",
      "/usr/bin/python3",
    ).ended;
    expect(exitCode).toBe(1);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
      /\/usr\/bin\/python3 on \S+ has no JupyterLab: name a Python that has it, by --python_binary_path/,
    );
  });
});
