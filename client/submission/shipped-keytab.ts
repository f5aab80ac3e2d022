import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { koffiVersion } from "../../src/hadoop/security/kerberos/libgssapi.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import { nativeModuleName } from "../../src/job/launch/container-names.ts";
import type { Settings } from "../../src/job/settings.ts";
import { handedToLogin } from "../../src/job/stored/handed-settings.ts";
import { type HashedFile, type JobKeytab, sha256Of } from "../../src/job/stored/job-keytab.ts";
import { type ProgramName, packageRoot, programPath } from "../../src/programs.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { keytabLogin } from "../cluster/keytab-login.ts";
import { namedRuntimes } from "../cluster/site-settings.ts";
import type { ShipItem } from "../shipping/shipping.ts";
import { programItem } from "./shipping-plan.ts";

const shipKey = "tony.kerberos.ship-keytab";

/** A keytab that is sent with a job. */
export interface ShippedKeytab {
  readonly keytab: JobKeytab;
  /** The keytab itself, for the staging folder. */
  readonly content: Uint8Array;
  /** The files with which the ApplicationMaster's container can log in. */
  readonly items: readonly ShipItem[];
}

/** Where files are installed on this machine; each function throws where its file is missing. */
export interface Installed {
  readonly programOf: (name: ProgramName) => string;
  /** koffi's native module for an architecture. */
  readonly nativeModuleOf: (architecture: string) => string;
}

const installed: Installed = { programOf: programPath, nativeModuleOf: installedNativeModule };

/**
 * The keytab that is sent with a job, and the files to use it with; undefined where none is sent, or the cluster does not
 * authenticate its users.
 * @throws UserError (`JOB_INVALID`, `KOFFI_MISSING`)
 */
export async function shippedKeytab(
  settings: Settings,
  { isSecured, configuration }: Pick<Cluster, "isSecured" | "configuration">,
  { programOf, nativeModuleOf }: Installed = installed,
): Promise<ShippedKeytab | undefined> {
  if (readSetting(settings, shipKey) !== true || !isSecured) return undefined;
  const login = keytabLogin(settings);
  if (login === undefined) throw withoutKeytab(settings.get(shipKey)?.at);
  const content = await readFile(login.keytab);
  const program = programItem("tokens", programOf);
  const native = architecturesOf(settings).map((name) => [name, nativeItem(name, nativeModuleOf)] as const);
  const hashes = native.map(async ([name, item]) => [name, await hashed(item)] as const);
  return {
    content,
    items: [program, ...native.map(([, item]) => item)],
    keytab: {
      principal: login.principal,
      sha256: sha256Of(content),
      program: await hashed(program),
      nativeModules: Object.fromEntries(await Promise.all(hashes)),
      hadoop: handedToLogin(configuration.values()),
    },
  };
}

/** The architectures that the nodes may have. */
function architecturesOf(settings: Settings): readonly string[] {
  const named = Object.keys(namedRuntimes(settings));
  return [...new Set([process.arch, ...named])];
}

function nativeItem(architecture: string, nativeModuleOf: (architecture: string) => string): ShipItem {
  try {
    const source = nativeModuleOf(architecture);
    return { link: nativeModuleName(architecture), source, as: "file", shared: true };
  } catch (cause) {
    const name = packageOf(architecture);
    throw new UserError(
      `${shipKey} needs the optional npm package ${name}, which is not installed: ${errorMessage(cause)}\n  npm install -g --force ${name}@${koffiVersion}`,
      { code: "KOFFI_MISSING", exitCode: ExitCode.usage, cause },
    );
  }
}

async function hashed({ link, source }: ShipItem): Promise<HashedFile> {
  return { link, sha256: sha256Of(await readFile(source)) };
}

const packageOf = (architecture: string) => `@koromix/koffi-linux-${architecture}`;

/** koffi has one package for each platform, with builds for glibc and for musl; nodes have glibc. */
function installedNativeModule(architecture: string): string {
  const ofUs = createRequire(path.join(packageRoot(), "package.json"));
  const ofKoffi = createRequire(ofUs.resolve("koffi"));
  return ofKoffi.resolve(`${packageOf(architecture)}/linux_${architecture}/koffi.node`);
}

function withoutKeytab(at: string | undefined): UserError {
  const place = at === undefined ? "" : `${at}: `;
  return new UserError(`${place}${shipKey} is true, and tony.kerberos.keytab names no keytab to send along`, {
    code: "JOB_INVALID",
  });
}
