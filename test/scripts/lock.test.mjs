import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { withLock } from "../../scripts/cluster/lock.mjs";

const LOCK_MODULE = new URL("../../scripts/cluster/lock.mjs", import.meta.url).href;
const uniqueName = () => `test ${process.pid} ${performance.now()}`;

test("lets one holder in at a time, and tells the others once that they wait", async () => {
  const name = uniqueName();
  /** @type {string[]} */
  const events = [];
  let waits = 0;
  const work = (/** @type {string} */ holder) => async () => {
    events.push(`${holder} in`);
    await new Promise((resolve) => setImmediate(resolve));
    events.push(`${holder} out`);
    return holder;
  };
  const onWait = () => {
    waits += 1;
  };
  const results = await Promise.all(["a", "b", "c"].map((holder) => withLock(name, work(holder), { onWait })));
  expect(results).toEqual(["a", "b", "c"]);
  expect(waits).toBe(2);
  for (let index = 0; index < events.length; index += 2) {
    expect(events[index + 1]).toBe(events[index]?.replace(" in", " out"));
  }
});

test("is free again after work that throws", async () => {
  const name = uniqueName();
  const failing = withLock(name, async () => {
    throw new Error("the work failed");
  });
  await expect(failing).rejects.toThrow("the work failed");
  await expect(withLock(name, async () => "in", { waitMs: 0 })).resolves.toBe("in");
});

test("is free again when its holder was killed, and says how long it waited for one that lives", async () => {
  const name = uniqueName();
  const program = `const { withLock } = await import(${JSON.stringify(LOCK_MODULE)});
    await withLock(${JSON.stringify(name)}, () => { console.log("held"); return new Promise(() => setInterval(() => {}, 1000)); });`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");
  await expect(withLock(name, async () => "in", { waitMs: 150 })).rejects.toThrow(
    `has held the lock "${name}" for 0.15 s`,
  );

  holder.kill("SIGKILL");
  await expect(withLock(name, async () => "in")).resolves.toBe("in");
});
