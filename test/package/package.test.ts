import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { packageRoot } from "../../src/programs.ts";
import { brokenLinks } from "../documents/links.ts";
import { TonyTs, type TonyTsResult } from "../support/tony-ts.ts";

jest.setTimeout(180_000);

const run = promisify(execFile);

/** `npm pack`, then `npm install -g` of the tarball, by somebody who has Node and npm and nothing of this checkout. */
describe("the packed tarball", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-package-"));
  const prefix = path.join(folder, "prefix");
  const work = path.join(folder, "work");
  const installed = path.join(prefix, "lib", "node_modules", "tony-ts");
  let files: readonly string[] = [];
  let tarball = "";
  let environment: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    const home = path.join(folder, "home");
    const bin = path.join(folder, "bin");
    for (const name of [home, bin, work]) mkdirSync(name);
    // The phase `build` has built what is packed.
    const packing = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const { stdout } = await run("npm", packing, { cwd: packageRoot() });
    const [packed] = JSON.parse(stdout);
    files = packed.files.map((file: { path: string }) => file.path);
    tarball = path.join(folder, packed.filename);

    symlinkSync(process.execPath, path.join(bin, "node"));
    symlinkSync(await npmProgram(), path.join(bin, "npm"));
    environment = { HOME: home, PATH: `${path.join(prefix, "bin")}:${bin}`, ...(await registrySettings()) };
    const install = ["install", "-g", "--ignore-scripts", "--prefix", prefix, "--no-audit", "--no-fund", tarball];
    await run(path.join(bin, "npm"), install, { cwd: work, env: environment });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("holds the programs, the library, the examples and the documents, and nothing else", () => {
    const expected = [
      /^(package\.json|README\.md|LICENSE|NOTICE|(CHANGELOG|CONTRIBUTING)\.md)$/,
      /^docs\/([\w-]+\/)*[\w-]+\.md$/,
      /^docs\/pictures\/[\w-]+\.png$/,
      /^src\/hadoop\/README\.md$/,
      /^dist\/programs\/((am|executor|tokens|tony-ts|portal)\.cjs(\.LEGAL\.txt)?|tony-ts\.code\.js|(compare|page|portal)\.html|optuna_trials\.py)$/,
      /^dist\/lib\/(src|client)\/[\w/-]+(\.d\.ts|\.js)$/,
      /^dist\/lib\/packages\/[\w-]+\.js$/,
      /^dist\/sbom\.cdx\.json$/,
      /^azkaban\/jobtypes\/tony-ts\/(plugin|private)\.properties$/,
      /^examples\/[\w-]+\/(job\.xml|[\w-]+\.(py|sh))$/,
      /^examples\/monitoring\/(alerts\.yml|grafana-dashboard\.json)$/,
      /^examples\/portal\/tony-ts-portal\.service$/,
    ];
    expect(files.filter((file) => !expected.some((pattern) => pattern.test(file)))).toEqual([]);
    for (const program of ["am", "executor", "tokens", "tony-ts", "portal"])
      expect(files).toContain(`dist/programs/${program}.cjs`);
    for (const entry of ["client/library.js", "client/library.d.ts", "src/hadoop/main.js", "src/hadoop/main.d.ts"]) {
      expect(files).toContain(`dist/lib/${entry}`);
    }
  });

  test("holds what the links of README and the documents lead to", () => {
    expect(files).toContain("docs/reference/keys.md");
    expect(brokenLinks(installed)).toEqual([]);
  });

  test("lists the packages in it and beside it, with their hashes: CycloneDX", () => {
    const { bomFormat, components } = JSON.parse(readFileSync(path.join(installed, "dist/sbom.cdx.json"), "utf8"));
    expect(bomFormat).toBe("CycloneDX");
    expect(components.filter(({ hashes }: { hashes: readonly object[] }) => hashes.length === 0)).toEqual([]);
    const named = new Set(components.map(({ purl }: { purl: string }) => decodeURIComponent(purl)));
    const manifest = JSON.parse(readFileSync(path.join(packageRoot(), "package.json"), "utf8"));
    // What is bundled of the tools of the build.
    const { "@grpc/grpc-js": grpc } = manifest.devDependencies;
    const wanted = { ...manifest.dependencies, ...manifest.optionalDependencies, "@grpc/grpc-js": grpc };
    const purls = Object.entries(wanted).map(([name, version]) => `pkg:npm/${name}@${version}`);
    expect(purls.filter((purl) => !named.has(purl))).toEqual([]);
  });

  test("has the same bytes when it is built again, in another folder", async () => {
    const again = path.join(folder, "built-again", "checkout");
    const target = path.join(folder, "packed-again");
    mkdirSync(path.dirname(again));
    mkdirSync(target);
    const made = /^(\.git|\.cluster|\.cache|node_modules|dist|coverage|generated)$/;
    cpSync(packageRoot(), again, { recursive: true, filter: (source) => !made.test(path.basename(source)) });
    // The revision is part of what is built.
    const git = path.join(packageRoot(), ".git");
    if (existsSync(git)) symlinkSync(git, path.join(again, ".git"));
    await run("cp", ["-a", path.join(packageRoot(), "node_modules"), again]);
    await run(process.execPath, ["scripts/build.mjs"], { cwd: again });
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", target], { cwd: again });
    expect(sha256(path.join(target, path.basename(tarball)))).toBe(sha256(tarball));
  });

  test("is what bundlers and compilers expect: publint and attw find nothing, for who imports it as ESM", async () => {
    const bin = (name: string) => path.join(packageRoot(), "node_modules", ".bin", name);
    const publint = await run(bin("publint"), ["run", tarball, "--strict"]);
    expect(publint.stdout).toContain("All good!");
    const attw = await run(bin("attw"), [tarball, "--profile", "esm-only", "--format", "json"]);
    expect(JSON.parse(attw.stdout)).toMatchObject({ analysis: { types: { kind: "included" } } });
  });

  test("needs no script of a package: koffi, which has one, works without it, and kerberos is nobody's who has not installed it", async () => {
    const manifests = readdirSync(path.join(installed, "node_modules"), { recursive: true, encoding: "utf8" })
      .filter((name) => path.basename(name) === "package.json")
      .map((name) => JSON.parse(readFileSync(path.join(installed, "node_modules", name), "utf8")));
    expect(manifests.map(({ name }) => name)).toContain("protobufjs");
    const scripts = manifests.flatMap(({ name, scripts = {} }) => Object.keys(scripts).map((key) => `${name}: ${key}`));
    const installing = scripts.filter((script) => /: (pre|post)?install$/.test(script)).sort();
    expect(installing).toEqual(["koffi: install"]);
    expect(manifests.map(({ name }) => name)).not.toContain("kerberos");
    const loads = 'console.log(typeof require("koffi").load)';
    expect((await run(process.execPath, ["-e", loads], { cwd: installed })).stdout).toBe("function\n");
  });

  test("loads every module of its library", async () => {
    const names = files.filter((name) => /^dist\/lib\/.*\.js$/.test(name)).map((name) => path.join(installed, name));
    const program = path.join(folder, "load.mjs");
    const imports = names.map((name) => `import ${JSON.stringify(name)};\n`);
    writeFileSync(program, `${imports.join("")}console.log("all");\n`);
    expect((await run(process.execPath, [program])).stdout).toBe("all\n");
  });

  /** Programs of jobs are shell commands, and so is what npx runs; whoever installs needs no shell. */
  const withShell = () => ({ ...environment, PATH: `${environment.PATH}:/usr/bin:/bin` });

  /** The command as it is installed, outside of any checkout. */
  async function installedTony(...words: readonly string[]): Promise<TonyTsResult> {
    const program = path.join(prefix, "bin", "tony-ts");
    return await new TonyTs(words, withShell(), work, program).ended;
  }

  test("gives a working tony-ts", async () => {
    const { version } = JSON.parse(readFileSync(path.join(installed, "package.json"), "utf8"));
    expect(await installedTony("--version")).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(version) });
    expect(await installedTony("keys")).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("tony.application.name"),
    });
  });

  test("runs by npx, where it is not installed", async () => {
    const npx = ["exec", "--yes", "--ignore-scripts", "--package", tarball, "--", "tony-ts", "validate", "none.xml"];
    const ran = run(path.join(folder, "bin", "npm"), npx, { cwd: work, env: withShell() });
    await expect(ran).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("none.xml does not exist") });
  });

  test("runs the job that init writes", async () => {
    expect(await installedTony("init", "hello")).toMatchObject({ exitCode: 0 });
    const { exitCode, stdout } = await installedTony("submit", "--scheduler", "local", "--conf", "job.xml");
    expect(stdout).toMatch(/^worker:0 \| hello from worker:0/m);
    expect(stdout).toContain("SUCCEEDED");
    expect(exitCode).toBe(0);
  });

  test("offers its library to programs, with types", async () => {
    const consumer = aConsumer("consumer");
    const program = [
      'import { type ClusterMetrics, ResourceManagerClient, simpleCredentials } from "tony-ts/hadoop";',
      'const credentials = simpleCredentials({ name: "ada" });',
      'const client = new ResourceManagerClient({ endpoints: [{ host: "127.0.0.1", port: 1 }], credentials });',
      "export const metrics = (): Promise<ClusterMetrics> => client.metrics();",
      "client.close();",
      "console.log(typeof client.metrics);",
    ];
    writeFileSync(path.join(consumer, "package.json"), '{ "type": "module" }\n');
    writeFileSync(path.join(consumer, "program.ts"), `${program.join("\n")}\n`);

    await run(process.execPath, [...compiler, "program.ts"], { cwd: consumer }).catch((error) => {
      throw new Error(`The library's types do not compile:\n${error.stdout}`);
    });
    const { stdout } = await run(process.execPath, ["program.js"], { cwd: consumer });
    expect(stdout).toBe("function\n");
  });

  test.each(["tony-ts", "tony-ts/hadoop"])(
    "gives types of %s by itself, to who has @types/node and names no types",
    async (entry) => {
      const consumer = aConsumer(`types-of-${path.basename(entry)}`);
      writeFileSync(
        path.join(consumer, "program.ts"),
        `import * as all from "${entry}";\nexport const names = Object.keys(all);\n`,
      );
      const words = [...compiler, "--noEmit", "program.ts"];
      const said = await run(process.execPath, words, { cwd: consumer }).catch((error) => error);
      expect(said.stdout).toBe("");
    },
  );

  /** A project with nothing in it but what people install to use the library from TypeScript. */
  function aConsumer(name: string): string {
    const consumer = path.join(folder, name);
    mkdirSync(path.join(consumer, "node_modules", "@types"), { recursive: true });
    symlinkSync(installed, path.join(consumer, "node_modules", "tony-ts"));
    const types = path.join("node_modules", "@types", "node");
    symlinkSync(path.join(packageRoot(), types), path.join(consumer, types));
    return consumer;
  }
  const tsc = path.join(packageRoot(), "node_modules", "typescript", "bin", "tsc");
  const compiler = [tsc, "--strict", "--module", "nodenext", "--target", "es2023"];

  /** The programs that a document of the package shows, compiled and run one after the other. @param change what is put in for what */
  async function runShown(document: string, ...change: readonly (readonly [string, string])[]) {
    const text = readFileSync(path.join(installed, document), "utf8");
    const programs = Array.from(text.matchAll(/```ts\n([\s\S]*?)```/g), ([, program = ""]) => program);
    const consumer = aConsumer(path.basename(document, ".md"));
    for (const name of ["job.xml", "hello.sh"]) copyFileSync(path.join(work, name), path.join(consumer, name));
    // What ends at once may have ended before a busy machine follows it.
    appendFileSync(path.join(consumer, "hello.sh"), "sleep 2\n");
    const withShell = { ...environment, PATH: `${environment.PATH}:/usr/bin:/bin` };
    const results = [];
    for (const [index, program] of programs.entries()) {
      const changed = change.reduce((whole, [shown, tried]) => whole.replace(shown, tried), program);
      writeFileSync(path.join(consumer, `program-${index}.mts`), changed);
      const words = [...compiler, `program-${index}.mts`];
      await run(process.execPath, words, { cwd: consumer }).catch((error) => {
        throw new Error(`A program of ${document} does not compile:\n${error.stdout}`);
      });
      results.push(await run(process.execPath, [`program-${index}.mjs`], { cwd: consumer, env: withShell }));
    }
    return results;
  }

  test("runs the program that README shows, which says all that the job says", async () => {
    const [shown] = await runShown("README.md", ["{ signal", "{ local: true, signal"]);
    expect(shown?.stdout).toMatch(/^worker:0 hello from worker:0/m);
    expect(shown?.stdout).toMatch(/^local_\d+_\d+ succeeded /m);
    expect(shown?.stderr).toBe("");
  });

  test("runs the programs that docs/guide/library.md shows", async () => {
    const [job, error] = await runShown("docs/guide/library.md", ["{ logs", "{ local: true, logs"]);
    expect(job?.stdout).toMatch(/^worker:0 hello from worker:0$/m);
    expect(job?.stdout).toMatch(/^worker:1 hello from worker:1$/m);
    expect(job?.stdout).toMatch(/^local_\d+_\d+ succeeded$/m);
    expect(error?.stdout).toMatch(/^JOB_INVALID false --?conf: tony\.worker\.instances .*"two"/);
  });

  test("leaves nothing in the folder that it is run from but what init wrote", () => {
    expect(readdirSync(work).sort()).toEqual(["hello.sh", "job.xml"]);
  });
});

/** npm's own program: what is on PATH is a link to it, or a script that finds it beside itself. */
async function npmProgram(): Promise<string> {
  const { stdout } = await run("npm", ["root", "-g"]);
  const ownRoot = path.join(stdout.trim(), "npm", "bin", "npm-cli.js");
  return realpathSync(ownRoot);
}

/** Where packages come from on this machine: an empty home knows no mirror or proxy. */
async function registrySettings(): Promise<Record<string, string>> {
  const { stdout } = await run("npm", ["config", "list", "--json"]);
  const { registry, cache } = JSON.parse(stdout);
  const connection = Object.entries(process.env).flatMap(([name, value]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_file)$/i.test(name) && value !== undefined
      ? [[name, value]]
      : [],
  );
  return { ...Object.fromEntries(connection), npm_config_registry: registry, npm_config_cache: cache };
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
