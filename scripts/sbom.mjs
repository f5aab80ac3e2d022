// Lists the packages in what the build ships, and those that npm installs in addition: CycloneDX, from package-lock.json.
import { spawnSync } from "node:child_process";
import { Problem } from "./problem.mjs";

/** `--include=dev`: the packages that the build uses are in the bundles. */
const COMMAND = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--workspaces=false", "--include=dev"];
const DEVELOPMENT = "cdx:npm:package:development";

/**
 * npm's own list, without what differs between two builds (times, numbers, npm's release) and without build tools.
 * @param {string} root of the checkout
 * @param {readonly string[]} bundled packages whose code is in the programs or the library: `@grpc/grpc-js@1.14.7`
 * @returns {string} a CycloneDX document in JSON
 */
export function sbom(root, bundled) {
  const { stdout, stderr, status, error } = spawnSync("npm", COMMAND, { cwd: root, encoding: "utf8", maxBuffer: 1e8 });
  if (status !== 0) throw new Problem(`npm sbom failed:\n${error?.message ?? stderr}`, { cause: error });
  return `${JSON.stringify(shipped(JSON.parse(stdout), bundled), undefined, 2)}\n`;
}

/**
 * The parts of npm's document that are read; the rest of a component is passed on unchanged.
 * @typedef {{ "bom-ref": string, purl: string, scope?: string, properties: { name: string }[], externalReferences: { type: string }[] }} Component
 * @typedef {object} Document
 * @property {string} [$schema]
 * @property {string} bomFormat
 * @property {string} specVersion
 * @property {number} version
 * @property {{ component: { "bom-ref": string }, lifecycles: object[] }} metadata
 * @property {Component[]} components
 * @property {{ ref: string, dependsOn: string[] }[]} dependencies
 *
 * @param {Document} document
 * @param {readonly string[]} bundled
 */
export function shipped({ $schema, bomFormat, specVersion, version, metadata, components, dependencies }, bundled) {
  const missing = bundled.filter((name) => !components.some((component) => packageOf(component) === name));
  if (missing.length > 0) throw new Problem(`package-lock.json does not name what is bundled: ${missing.join(", ")}`);
  const kept = components.flatMap((component) => {
    const isBundled = bundled.includes(packageOf(component));
    if (!isBundled && isDevelopment(component)) return [];
    const properties = component.properties.filter(({ name }) => name !== DEVELOPMENT);
    // The lock file's addresses name no registry: see complete-lock.mjs.
    const externalReferences = component.externalReferences.filter(({ type }) => type !== "distribution");
    return [{ ...component, scope: isBundled ? "required" : component.scope, properties, externalReferences }];
  });
  const { component, lifecycles } = metadata;
  const refs = new Set([component["bom-ref"], ...kept.map((each) => each["bom-ref"])]);
  return {
    ...{ $schema, bomFormat, specVersion, version },
    // npm names the component after the folder that it is built in.
    metadata: { lifecycles, component: { ...component, name: component["bom-ref"].replace(/@[^@]*$/, "") } },
    components: kept,
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
  };
}

/** `pkg:npm/%40grpc/grpc-js@1.14.7` → `@grpc/grpc-js@1.14.7`. @param {Component} component */
function packageOf({ purl }) {
  return decodeURIComponent(purl.slice("pkg:npm/".length));
}

/** @param {Component} component */
function isDevelopment({ properties }) {
  return properties.some(({ name }) => name === DEVELOPMENT);
}
