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

  /** The keys of TonY 0.5.3: TonyConfigurationKeys and tony-default.xml. */
  test("lists every key of TonY", () => {
    const tony = `
      tony.application.name tony.application.type tony.application.tags tony.yarn.queue tony.application.framework
      tony.application.distributed-mode tony.application.node-label tony.application.placement-spec tony.application.timeout
      tony.application.num-client-rm-connect-retries tony.application.enable-preprocess tony.application.prepare-stage
      tony.application.training-stage tony.application.untracked.jobtypes tony.application.sidecar.jobtypes
      tony.application.stop-on-failure-jobtypes tony.application.fail-on-worker-failure-enabled tony.application.group.G
      tony.application.dependency.worker.timeout.after.G tony.application.dependency.worker.timeout.after.G.ignored
      tony.application.security.enabled tony.application.hdfs-conf-path tony.application.yarn-conf-path
      tony.application.mapred-conf-path tony.application.hadoop.location tony.application.hadoop.classpath
      tony.application.tensorboard-log-dir tony.other.namenodes
      tony.am.memory tony.am.vcores tony.am.gpus tony.am.retry-count tony.am.startup-timeout
      tony.am.wait-client-signal-stop-timeout-sec tony.am.node-label tony.am.resources tony.am.command tony.task.am.jvm.opts
      tony.worker.instances tony.worker.max-instances tony.worker.memory tony.worker.vcores tony.worker.gpus tony.worker.command
      tony.worker.resources tony.worker.node-label tony.worker.placement-spec tony.worker.allocation-tags tony.worker.depends-on
      tony.containers.resources tony.containers.command tony.containers.envs tony.containers.placement-spec
      tony.containers.allocation-tags tony.execution.envs tony.task.executor.jvm.opts tony.task.default.jvm.opts
      tony.task.heartbeat-interval-ms tony.task.max-missed-heartbeats tony.task.metrics-interval-ms tony.task.gpu-metrics.enabled
      tony.gpu-exec-path tony.task.executor.execution-timeout-ms tony.task.executor.registry-timeout-sec
      tony.task.executor.execution.error-message-max-depth tony.task.max-total-instances tony.task.max-total-gpus
      tony.task.max-total-memory tony.container.allocation.timeout tony.container.registration.timeout tony.python-exec-path
      tony.tensorboard.instances tony.tensorboard.vcores tony.tensorboard.memory tony.tensorboard.gpus tony.tensorboard.command
      tony.docker.enabled tony.docker.containers.image tony.docker.worker.image tony.docker.containers.mount
      tony.horovod.mode.test tony.horovod.mode.test.fast.fail tony.horovod.driver.mode.debug tony.driver.command
      tony.history.location tony.history.intermediate tony.history.finished tony.history.mover-interval-ms
      tony.history.finished-dir-timezone tony.history.retention-sec tony.history.purger-interval-ms tony.portal.url
      tony.portal.cache.max-entries tony.keytab.user tony.keytab.location tony.https.port tony.https.keystore.path
      tony.https.keystore.type tony.https.keystore.password tony.https.keystore.algorithm tony.http.port tony.secret.key
      tony.version-info.version tony.version-info.checksum`;
    const missing = tony
      .trim()
      .split(/\s+/)
      .filter((key) => findKey(key) === undefined);
    expect(missing).toEqual([]);
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
