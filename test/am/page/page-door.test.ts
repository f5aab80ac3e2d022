import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { request as requestTls } from "node:https";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { MOST_PAGE_READERS, PageAnswers, type PageSources } from "../../../am/page/page-answers.ts";
import { pageCertificate } from "../../../am/page/page-certificate.ts";
import { MOST_PAGE_CONNECTIONS, PageDoor, type PageDoorOptions } from "../../../am/page/page-door.ts";

const html = Buffer.from("<html><style>a{}</style><script>1</script></html>");
const proof = "application/json; key=secret-key";
const options = { host: "127.0.0.1", portKey: "tony.am.port-range", random: () => 0 };

function doorWith(sources: Partial<PageSources>, more: Partial<PageDoorOptions> = {}): PageDoor {
  const others = {
    live: () => ({}),
    readLogs: async () => ({}),
    settings: async () => ({}),
    gauges: () => ({}),
    run: () => ({}),
  };
  return new PageDoor({ html, key: "secret-key", answers: new PageAnswers({ ...others, ...sources }), ...more });
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

describe("the door of a job's page", () => {
  let door: PageDoor;
  let port = 0;
  beforeEach(async () => {
    door = doorWith({ live: ({ since }, mayLook) => ({ since, mayLook }) });
    port = await door.listen(options);
  });
  afterEach(() => door.close());

  async function ask(path: string, accept = "*/*", method = "GET"): Promise<Answer> {
    const sent = request({ host: "127.0.0.1", port, path, method, headers: { accept } });
    sent.end();
    const [response] = await once(sent, "response");
    const { statusCode: status, headers } = response;
    return { status, headers, text: (await buffer(response)).toString("utf8") };
  }

  test("serves the page, with a policy that lets run what is in it alone", async () => {
    const { status, headers, text } = await ask("/");
    expect([status, text]).toEqual([200, html.toString("utf8")]);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='; " +
        "style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
  });

  test("shows the whole job to who sends its key alone", async () => {
    const looks = async (accept: string) => JSON.parse((await ask("/api/v1/live?since=7", accept)).text);
    expect(await looks("application/json; key=secret-key")).toEqual({ since: 7, mayLook: true });
    for (const accept of ["*/*", "application/json; key=secret-kez", "application/json; key=", "key=secret-key"])
      expect(await looks(accept)).toEqual({ since: 7, mayLook: false });
  });

  test("without a key shows it to nobody", async () => {
    const own = doorWith({ live: (_request, mayLook) => ({ mayLook }) }, { key: undefined });
    port = await own.listen(options);
    for (const accept of ["*/*", proof, "application/json; key=undefined"])
      expect((await ask("/api/v1/live", accept)).text).toBe(`{"mayLook":false}`);
    expect((await ask("/api/v1/settings", proof)).status).toBe(404);
    own.close();
  });

  test.each(["/api/v1/settings", "/api/v1/logs?of=worker:0~stdout~0", "/api/v1/metrics?tasks=all"])(
    "shows %s to who sends its key alone",
    async (path) => {
      const asked: string[] = [];
      const made = (what: string) => async () => {
        asked.push(what);
        return { what };
      };
      const gauges = (ofTasks: boolean) => {
        asked.push("gauges");
        return { what: ofTasks ? "/api/v1/metrics" : "" };
      };
      const own = doorWith({ readLogs: made("/api/v1/logs"), settings: made("/api/v1/settings"), gauges });
      port = await own.listen(options);
      expect(await ask(path)).toMatchObject({ status: 404, text: `{"error":"only with the page's key"}` });
      expect(asked).toEqual([]);
      const { status, text } = await ask(path, proof);
      expect([status, JSON.parse(text)]).toEqual([200, { what: path.split("?")[0] }]);
      own.close();
    },
  );

  test("says why a log or the settings cannot be read, and makes others wait while a few are read", async () => {
    const held: (() => void)[] = [];
    const own = doorWith({
      settings: () => Promise.reject(new Error("no such folder")),
      readLogs: () => new Promise((resolve) => held.push(() => resolve({ parts: [] }))),
    });
    port = await own.listen(options);
    expect((await ask("/api/v1/settings", proof)).text).toBe(`{"error":"no such folder"}`);
    const log = () => ask("/api/v1/logs?of=worker:0~stdout~0", proof);
    const reading = Array.from({ length: MOST_PAGE_READERS }, log);
    while (held.length < MOST_PAGE_READERS) await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await log()).text).toBe(`{"error":"others ask just now"}`);
    for (const go of held) go();
    expect((await Promise.all(reading)).map(({ text }) => text)).toEqual(reading.map(() => `{"parts":[]}`));
    own.close();
  });

  test("answers whatever is asked with a body and a status that YARN's proxy passes on", async () => {
    const statuses = new Set<number>();
    const word = fc.stringMatching(/^[A-Za-z0-9_.~,:;=&%/?-]{0,20}$/);
    await fc.assert(
      fc.asyncProperty(
        word,
        fc.constantFrom("GET", "PUT", "POST", "DELETE", "OPTIONS", "TRACE"),
        async (path, method) => {
          const { status, text, headers } = await ask(`/${path}`, "*/*", method);
          statuses.add(status);
          expect(text.length).toBeGreaterThan(0);
          expect(headers.location).toBeUndefined();
        },
      ),
      {
        numRuns: 150,
        examples: [
          ["api/v1/live?since=x", "GET"],
          ["/elsewhere", "GET"],
          ["", "GET"],
          ["api/v1/logs?of=worker:0", "GET"],
          ["api/v1/settings", "GET"],
        ],
      },
    );
    expect([...statuses].sort()).toEqual([200, 404, 405]);
  });

  test("gives up who asks, or takes the answer, a byte at a time", async () => {
    const hasty = doorWith({}, { connectionMs: 100 });
    const socket = connect({ host: "127.0.0.1", port: await hasty.listen(options) });
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => undefined);
    socket.write("GET / HTTP/1.1\r\nX: ");
    const drip = setInterval(() => socket.write("a"), 20);
    await closed;
    clearInterval(drip);
    hasty.close();
    expect(socket.destroyed).toBe(true);
  });

  test("who holds a place keeps it, however many come and go", async () => {
    const holder = connect({ host: "127.0.0.1", port });
    await once(holder, "connect");
    for (let times = 0; times <= MOST_PAGE_CONNECTIONS; times += 1) expect((await ask("/")).status).toBe(200);
    holder.write("GET / HTTP/1.1\r\nHost: am\r\n\r\n");
    const [first] = await once(holder, "data");
    expect(String(first)).toMatch(/^HTTP\/1\.1 200 /);
    holder.destroy();
  });

  test("who holds all its places and asks nothing keeps nobody out: the oldest goes", async () => {
    const idle = Array.from({ length: MOST_PAGE_CONNECTIONS + 1 }, () => connect({ host: "127.0.0.1", port }));
    for (const socket of idle) socket.on("error", () => undefined);
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    expect((await ask("/")).status).toBe(200);
    const isOpen = () => idle.filter((socket) => !socket.closed).length;
    while (isOpen() > MOST_PAGE_CONNECTIONS - 1) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const socket of idle) socket.destroy();
    expect((await ask("/")).status).toBe(200);
  });
});

describe("the door of a page that YARN's proxy fetches by HTTPS", () => {
  /** Made by ProxyCA of Hadoop 3.4.2, for two applications. */
  const fixture = (name: string) => readFileSync(`test/fixtures/proxy-ca/${name}`);
  const certificate = pageCertificate(fixture("application.jks"), "changeit");
  const proxy = { cert: fixture("authority.pem"), key: fixture("authority.pem") };
  const { key, cert } = pageCertificate(fixture("other.jks"), "changeit").options;
  const asked: string[] = [];
  const door = doorWith(
    { live: (_request, mayLook) => ({ mayLook }) },
    {
      proxy: {
        certificate,
        maySee: async (user) => {
          asked.push(user);
          return user === "ada von b";
        },
      },
    },
  );
  let port = 0;
  beforeAll(async () => {
    port = await door.listen(options);
  });
  afterAll(() => door.close());
  beforeEach(() => void asked.splice(0));

  async function ask(shown: object, headers: object = {}) {
    const sent = requestTls({
      ...{ host: "127.0.0.1", port, path: "/api/v1/live", agent: false, rejectUnauthorized: false, ...shown },
      headers: { ...headers },
    });
    sent.end();
    const [response]: IncomingMessage[] = await once(sent, "response");
    return response && (await buffer(response)).toString("utf8");
  }

  test("shows the whole job to who may see it and asks through the proxy, which has the ResourceManager's own certificate", async () => {
    expect(await ask(proxy, { cookie: "proxy-user=ada+von+b" })).toBe(`{"mayLook":true}`);
    expect(await ask(proxy, { cookie: "proxy-user=bob" })).toBe(`{"mayLook":false}`);
    expect(asked).toEqual(["ada von b", "bob"]);
  });

  test.each([
    ["no certificate", {}],
    ["another application's, by the same authority", { cert, key }],
  ])("does not believe a cookie of who has %s", async (_what, shown) => {
    expect(await ask(shown, { cookie: "proxy-user=ada+von+b" })).toBe(`{"mayLook":false}`);
    expect(asked).toEqual([]);
  });

  test("shows it to who sends its key, whoever asks", async () => {
    expect(await ask({}, { accept: proof })).toBe(`{"mayLook":true}`);
    expect(asked).toEqual([]);
  });

  test.each(["", "proxy-user=", "user=ada"])("takes nobody's name from the cookie '%s'", async (cookie) => {
    expect(await ask(proxy, { cookie })).toBe(`{"mayLook":false}`);
    expect(asked).toEqual([]);
  });

  test("shows the chain that the proxy takes: the application's certificate, and the ResourceManager's", async () => {
    const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const own = socket.getPeerX509Certificate();
    expect(own?.subject).toBe("CN=application_1_0001");
    expect(String(certificate.options.cert).match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    socket.destroy();
  });

  test("gives up who does not speak TLS, and goes on", async () => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("error", () => undefined);
    socket.write("GET / HTTP/1.1\r\n\r\n");
    await once(socket, "close");
    const hasty = connect({ host: "127.0.0.1", port });
    await once(hasty, "connect");
    hasty.resetAndDestroy();
    expect(await ask({})).toBe(`{"mayLook":false}`);
  });
});
