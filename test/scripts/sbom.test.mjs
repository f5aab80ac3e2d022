import { expect, test } from "@jest/globals";
import { shipped } from "../../scripts/sbom.mjs";

const development = { name: "cdx:npm:package:development", value: "true" };
/** @param {string} name @param {...{ name: string }} properties */
const component = (name, ...properties) => ({
  "bom-ref": `${name}@1.0.0`,
  name,
  purl: `pkg:npm/${name.replace("@", "%40")}@1.0.0`,
  scope: "optional",
  properties,
  externalReferences: [],
});

/** What npm writes, in the folder `checkout`. */
const document = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  serialNumber: "urn:uuid:1",
  version: 1,
  metadata: {
    timestamp: "2026-01-01T00:00:00.000Z",
    tools: [{ name: "cli", version: "11.0.0" }],
    lifecycles: [{ phase: "pre-build" }],
    component: { "bom-ref": "tony-ts@0.1.0", name: "checkout" },
  },
  components: [component("koffi"), component("@grpc/grpc-js", development), component("esbuild", development)],
  dependencies: [
    { ref: "tony-ts@0.1.0", dependsOn: ["koffi@1.0.0", "@grpc/grpc-js@1.0.0", "esbuild@1.0.0"] },
    { ref: "esbuild@1.0.0", dependsOn: [] },
  ],
};

test("the list of packages names what is bundled and what is installed, and no tool of the build", () => {
  const { components, dependencies } = shipped(document, ["@grpc/grpc-js@1.0.0"]);
  expect(components).toEqual([component("koffi"), { ...component("@grpc/grpc-js"), scope: "required" }]);
  expect(dependencies).toEqual([{ ref: "tony-ts@0.1.0", dependsOn: ["koffi@1.0.0", "@grpc/grpc-js@1.0.0"] }]);
});

test("it says where a package comes from by its name: an address of the lock file names no registry", () => {
  const externalReferences = [{ type: "distribution", url: "https://npm.invalid/koffi/-/koffi-1.0.0.tgz" }];
  const { components } = shipped({ ...document, components: [{ ...component("koffi"), externalReferences }] }, []);
  expect(components).toEqual([component("koffi")]);
});

test("it says nothing that differs between two builds: no time, no number, no folder", () => {
  const { metadata, ...rest } = shipped(document, []);
  expect(metadata).toEqual({
    lifecycles: [{ phase: "pre-build" }],
    component: { "bom-ref": "tony-ts@0.1.0", name: "tony-ts" },
  });
  expect(rest).not.toHaveProperty("serialNumber");
});

test("a package that is bundled in another version than the lock's fails the build", () => {
  expect(() => shipped(document, ["@grpc/grpc-js@2.0.0"])).toThrow("@grpc/grpc-js@2.0.0");
});
