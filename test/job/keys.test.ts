import { describe, expect, test } from "@jest/globals";
import type { KeyDefinition } from "../../src/job/keys/key.ts";
import { findKey, type KeyName, keyFor, keys } from "../../src/job/keys.ts";

const rows = Object.entries<KeyDefinition>(keys);

describe("the table of keys", () => {
  const defaults = rows.flatMap(([name, { default: text, type }]) =>
    text === undefined ? [] : [{ name, text, type }],
  );
  test.each(defaults)("the default of $name is one that its own type accepts", ({ text, type }) => {
    expect(() => type.parse(text)).not.toThrow();
  });

  test.each(rows)("%s says what it does, in a sentence", (_name, { doc }) => {
    expect(doc).toMatch(/\.$/);
  });

  test("what is ignored says why", () => {
    const silent = rows.filter(([, row]) => row.support === "ignored-with-warning" && row.note === undefined);
    expect(silent).toEqual([]);
  });
});

describe("finding a key's row", () => {
  test("a name that is written out goes before a template", () => {
    expect(findKey("tony.am.memory")?.name).toBe("tony.am.memory");
    expect(findKey("tony.worker.memory")).toMatchObject({ name: "tony.{role}.memory", parameters: { role: "worker" } });
    expect(findKey("tony.task.max-total-instances")?.name).toBe("tony.task.max-total-instances");
    expect(findKey("tony.task.max-total-gpus")?.parameters).toEqual({ resource: "gpus" });
  });

  test("roles may have digits and dashes, resource types dots and slashes", () => {
    expect(findKey("tony.gpu-worker2.resource.yarn.io/fpga")?.parameters).toEqual({
      role: "gpu-worker2",
      resource: "yarn.io/fpga",
    });
  });

  test.each([
    "tony.Worker.memory",
    "tony.2.memory",
    "tony.task.memory",
    "tony.containers.instances",
    "tony.{role}.memory",
  ])("%s is no key", (key) => {
    expect(findKey(key)).toBeUndefined();
  });

  test("a template is filled as a person writes it", () => {
    const name: KeyName = "tony.application.dependency.{role}.timeout.after.{group}";
    expect(keyFor(name, { role: "worker", group: "A" })).toBe("tony.application.dependency.worker.timeout.after.A");
  });
});
