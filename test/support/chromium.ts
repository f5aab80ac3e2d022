import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { eventually } from "./eventually.ts";

/** A message of the Chrome DevTools Protocol, as far as it is used here. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Params = Readonly<Record<string, unknown>>;

const KEYS: Readonly<Record<string, { readonly code: number; readonly text?: string }>> = {
  Tab: { code: 9 },
  Enter: { code: 13, text: "\r" },
  " ": { code: 32, text: " " },
};

/** A real Chromium without a window, controlled over two pipes. */
export class Chromium {
  readonly #process: ChildProcess;
  readonly #toBrowser: Writable;
  readonly #folder = mkdtempSync(path.join(tmpdir(), "tony-chromium-"));
  readonly #awaited = new Map<number, (message: Message) => void>();
  readonly #pages = new Map<string, Page>();
  #last = 0;

  private constructor(more: readonly string[], environment: Readonly<Record<string, string>>) {
    const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    const quiet = ["--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"];
    const mode = ["--headless=new", "--remote-debugging-pipe", `--user-data-dir=${this.#folder}`];
    const args = [...mode, ...quiet, ...sandbox, ...more];
    // Chromium reads commands from descriptor 3 and answers on 4.
    const env = { ...process.env, ...environment };
    this.#process = spawn("chromium", args, { env, stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const [, , , to, from] = this.#process.stdio;
    if (!(to instanceof Writable && from instanceof Readable)) throw new Error("no pipes to the browser");
    this.#toBrowser = to;
    this.#read(from);
  }

  /**
   * @param more further options of Chromium
   * @param environment variables that it has besides those of this process
   * @throws Error where there is no Chromium: `apt-get install chromium`
   */
  static async start(
    more: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Chromium> {
    const browser = new Chromium(more, environment);
    await once(browser.#process, "spawn");
    return browser;
  }

  /** Opens a page of its own, at 1280 × 800. */
  async open(address: string, { scheme = "light" }: { readonly scheme?: "light" | "dark" } = {}): Promise<Page> {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.call("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page((method, params) => this.call(method, params, String(sessionId)));
    this.#pages.set(String(sessionId), page);
    await page.begin(address, scheme);
    return page;
  }

  async call(method: string, params: Params = {}, sessionId?: string): Promise<Params> {
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise<Message>((resolve) => this.#awaited.set(id, resolve));
    this.#toBrowser.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { error, result = {} } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async close(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
    // Its other processes notice that a moment later, and write until then.
    await eventually("the end of all its processes", async () => {
      try {
        rmSync(this.#folder, { recursive: true, force: true });
        return true;
      } catch {
        return undefined;
      }
    });
  }

  #read(from: Readable): void {
    let rest = "";
    from.setEncoding("utf8");
    from.on("data", (text: string) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop() ?? "";
      for (const message of messages) this.#take(JSON.parse(message));
    });
  }

  #take(message: Message): void {
    if (message.id === undefined) this.#pages.get(message.sessionId ?? "")?.happened(message);
    else {
      this.#awaited.get(message.id)?.(message);
      this.#awaited.delete(message.id);
    }
  }
}

/** What axe-core finds wrong; each becomes a line. */
interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}

export class Page {
  /** What the browser complained of: exceptions, errors in its console, and what the page's policy forbade. */
  readonly complaints: string[] = [];
  readonly #call: (method: string, params?: Params) => Promise<Params>;

  constructor(call: (method: string, params?: Params) => Promise<Params>) {
    this.#call = call;
  }

  async begin(address: string, scheme: string): Promise<void> {
    for (const domain of ["Page", "Runtime", "Log"]) await this.#call(`${domain}.enable`);
    const size = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false };
    await this.#call("Emulation.setDeviceMetricsOverride", size);
    await this.#call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    await this.go(address);
  }

  /** Shows the page as a browser of 1280 × 800 does that is zoomed by this factor. */
  async zoom(times: number): Promise<void> {
    const [width, height] = [Math.round(1280 / times), Math.round(800 / times)];
    const size = { width, height, deviceScaleFactor: times, mobile: false };
    await this.#call("Emulation.setDeviceMetricsOverride", size);
  }

  /** By how much visible content has moved by itself, as browsers measure it; 0: not at all. */
  async shifts(): Promise<unknown> {
    return await this.value(`new Promise((resolve) => {
      let sum = 0;
      const add = (list) => { for (const { value } of list.getEntries()) sum += value; };
      new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
      requestAnimationFrame(() => setTimeout(() => resolve(sum), 100));
    })`);
  }

  async reload(): Promise<void> {
    await this.#call("Page.reload");
  }

  async go(address: string): Promise<void> {
    const { errorText } = await this.#call("Page.navigate", { url: address });
    if (errorText !== undefined) throw new Error(`${address}: ${errorText}`);
  }

  happened({ method, params = {} }: Message): void {
    if (method === "Runtime.exceptionThrown") this.complaints.push(JSON.stringify(params.exceptionDetails));
    if (method === "Log.entryAdded") this.complaints.push(JSON.stringify(params.entry));
  }

  /** The value of a JavaScript expression; a promise is awaited. */
  async value(expression: string): Promise<unknown> {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#call("Runtime.evaluate", asked);
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return typeof result === "object" && result !== null && "value" in result ? result.value : undefined;
  }

  /** Waits until an expression is true. */
  async until(expression: string): Promise<void> {
    await eventually(expression, async () => ((await this.value(expression)) === true ? true : undefined));
  }

  text(selector: string): Promise<unknown> {
    return this.value(`document.querySelector(${JSON.stringify(selector)})?.innerText`);
  }

  async press(key: string): Promise<void> {
    const { code, text } = KEYS[key] ?? { code: key.toUpperCase().charCodeAt(0), text: key };
    const event = { key, windowsVirtualKeyCode: code, ...(text === undefined ? {} : { text }) };
    await this.#call("Input.dispatchKeyEvent", { type: "keyDown", ...event });
    await this.#call("Input.dispatchKeyEvent", { type: "keyUp", key, windowsVirtualKeyCode: code });
  }

  async type(words: string): Promise<void> {
    for (const key of words) await this.press(key);
  }

  /** Presses Tab until an element that matches has the focus. */
  async tabTo(selector: string, most = 40): Promise<void> {
    for (let count = 0; count < most; count += 1) {
      await this.press("Tab");
      if ((await this.value(`document.activeElement.matches(${JSON.stringify(selector)})`)) === true) return;
    }
    throw new Error(`${most} times Tab do not lead to ${selector}`);
  }

  /** What axe-core finds wrong on the page. */
  async violations(): Promise<string[]> {
    await this.value(axe);
    const found = await this.value("axe.run().then(({ violations }) => JSON.stringify(violations))");
    const violations: readonly Violation[] = JSON.parse(String(found));
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
  }

  /** A picture of the page, as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.#call("Page.captureScreenshot", { captureBeyondViewport: true });
    return Buffer.from(String(data), "base64");
  }
}
