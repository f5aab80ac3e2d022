import { describe, expect, test } from "@jest/globals";
import { parseJobSpec } from "../../../src/job/stored/parse-spec.ts";
import { minimalJob, saidAbout, specOf } from "../support.ts";

const docker = { "tony.docker.enabled": "true", "tony.docker.containers.image": "registry:5000/ml/train:1.4" };

/** What NodeManagers are told of the images of the ApplicationMaster and the workers. */
function imagesOf(values: Readonly<Record<string, string>>) {
  const { am, roles } = specOf(values);
  return { am: am.image, worker: roles[0]?.image };
}

describe("containers in images", () => {
  test("none, unless they are switched on", () => {
    expect(imagesOf({ "tony.docker.containers.image": "train" })).toEqual({ am: undefined, worker: undefined });
  });

  test("have one image, or a role's own, by the names of YARN's runtime", () => {
    const told = { YARN_CONTAINER_RUNTIME_TYPE: "docker" };
    const own = `ml/gpu@sha256:${"0".repeat(64)}`;
    expect(imagesOf({ ...docker, "tony.docker.worker.image": own })).toEqual({
      am: { ...told, YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: "registry:5000/ml/train:1.4" },
      worker: { ...told, YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: own },
    });
  });

  test("with mounts, network, privileges and a delayed removal", () => {
    const values = {
      ...docker,
      "tony.docker.containers.mount": "/data:/data:ro, /scratch:/scratch:rw+rprivate",
      "tony.docker.containers.network": "host",
      "tony.docker.containers.privileged": "true",
      "tony.docker.containers.delayed-removal": "true",
    };
    expect(imagesOf(values).worker).toEqual({
      YARN_CONTAINER_RUNTIME_TYPE: "docker",
      YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: "registry:5000/ml/train:1.4",
      YARN_CONTAINER_RUNTIME_DOCKER_MOUNTS: "/data:/data:ro,/scratch:/scratch:rw+rprivate",
      YARN_CONTAINER_RUNTIME_DOCKER_CONTAINER_NETWORK: "host",
      YARN_CONTAINER_RUNTIME_DOCKER_RUN_PRIVILEGED_CONTAINER: "true",
      YARN_CONTAINER_RUNTIME_DOCKER_DELAYED_REMOVAL: "true",
    });
  });

  test("of runC, which has no network and removes at once", () => {
    const values = { ...docker, "tony.docker.runtime": "runc", "tony.docker.containers.mount": "/data:/data:ro" };
    expect(imagesOf(values).worker).toEqual({
      YARN_CONTAINER_RUNTIME_TYPE: "runc",
      YARN_CONTAINER_RUNTIME_RUNC_IMAGE: "registry:5000/ml/train:1.4",
      YARN_CONTAINER_RUNTIME_RUNC_MOUNTS: "/data:/data:ro",
    });
    expect(saidAbout({ ...minimalJob, ...values, "tony.docker.containers.network": "host" })).toEqual([
      "job.xml:7: warning: tony.docker.containers.network has no effect with tony.docker.runtime = runc",
    ]);
  });

  test("come as they were through JSON", () => {
    const spec = specOf(docker);
    expect(parseJobSpec(JSON.stringify(spec))).toEqual(spec);
  });
});

describe("what cannot be meant so", () => {
  const said = (values: Readonly<Record<string, string>>) => saidAbout({ ...minimalJob, ...values });

  test("images that are not switched on", () => {
    expect(said({ "tony.docker.worker.image": "train" })).toEqual([
      "job.xml:3: warning: tony.docker.worker.image has no effect: set tony.docker.enabled to true",
    ]);
  });

  test("no image", () => {
    expect(said({ "tony.docker.enabled": "true" })).toEqual([
      "job.xml:3: tony.docker.enabled = true names no image: set tony.docker.containers.image",
    ]);
  });

  test("a role without one", () => {
    expect(said({ "tony.docker.enabled": "true", "tony.docker.am.image": "train" })).toEqual([
      "job.xml:3: warning: tony.docker.enabled = true, but a worker runs outside of any image: tony.docker.worker.image is not set",
    ]);
  });

  test("a network in which nobody finds the tasks", () => {
    expect(said({ ...docker, "tony.docker.containers.network": "bridge" })[0]).toContain(
      "tony.docker.containers.network = bridge: tasks and the ApplicationMaster reach each other by their nodes' names",
    );
  });

  test("names and mounts that YARN does not take", () => {
    expect(said({ ...docker, "tony.docker.containers.image": "Not An Image" })[0]).toContain(
      'tony.docker.containers.image must be the name of an image such as registry:5000/ml/train:1.4, not "Not An Image"',
    );
    expect(said({ ...docker, "tony.docker.containers.mount": "/data" })[0]).toContain(
      'tony.docker.containers.mount must be a list of mounts such as /data:/data:ro, not "/data"',
    );
  });
});
