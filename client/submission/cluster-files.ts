import path from "node:path/posix";
import { usageError } from "../../src/errors.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { isOfCluster, launchProblem } from "../../src/job/build/resource-strings.ts";
import { ownerOf } from "../../src/job/launch/container-names.ts";
import type { Problem } from "../../src/job/problem.ts";
import type { FileToShip, JobSpec } from "../../src/job/spec.ts";

interface Place {
  readonly fileSystem: Pick<FileSystem, "uri" | "stat" | "list">;
  readonly path: string;
}

/** The part of FileSystems that is needed. */
export interface FileLookUp {
  locate(pathOrUri: string): Place;
}

/** A spec whose folders on the cluster are replaced by their files, and warnings. */
export interface WithClusterFiles {
  readonly spec: JobSpec;
  readonly problems: readonly Problem[];
}

/**
 * A folder on the cluster that the job names as a resource stands for the files directly in it (TonY's Utils.addResource); a file whose name is
 * already taken, or cannot be a resource's, is left out.
 * @param classPath paths on the default file system, or URLs, that every task gets too; missing ones are left out (TonY's -hdfs_classpath)
 */
export async function withClusterFiles(
  spec: JobSpec,
  classPath: readonly string[],
  fileSystems: FileLookUp,
): Promise<WithClusterFiles> {
  const problems: Problem[] = [];
  const warn = (message: string, at?: string) =>
    problems.push({ severity: "warning", message, ...(at === undefined ? {} : { at }) });
  const find = async (source: string): Promise<Found> => {
    const { fileSystem, path: there } = fileSystems.locate(source);
    const status = await ifThere(fileSystem.stat(there));
    const members = status?.type === "DIRECTORY" ? await fileSystem.list(there) : [];
    const filesOf = ({ path: file }: FileStatus) => ({ ...aFile(fileSystem.uri, file), from: source });
    return {
      status,
      url: `${fileSystem.uri}${there}`,
      files: members.filter(({ type }) => type !== "DIRECTORY").map(filesOf),
    };
  };
  const opened = async (files: readonly FileToShip[]): Promise<Placed[]> => {
    const found = await Promise.all(
      files.map(async (file) => (mayBeFolder(file) ? await find(file.source) : undefined)),
    );
    return files.flatMap((file, index) => {
      const folder = found[index];
      if (folder?.status?.type !== "DIRECTORY") return [file];
      for (const message of folderWarnings(file, folder)) warn(message);
      return folder.files;
    });
  };
  const ofClassPath = async (): Promise<Placed[]> => {
    for (const place of classPath) requireOfCluster(place);
    const found = await Promise.all(classPath.map(find));
    return found.flatMap(({ status, url, files }) => {
      if (status === undefined) warn(`names ${url}, which does not exist: it is left out`, "--hdfs_classpath");
      return status === undefined ? [] : status.type === "DIRECTORY" ? files : [{ ...aFile("", url), from: url }];
    });
  };
  const settled = (files: readonly Placed[], taken: ReadonlySet<string>): FileToShip[] => {
    const isSame = (one: Placed, other: Placed) => one.source === other.source && one.name === other.name;
    const once = files.filter((file, at) => files.findIndex((other) => isSame(file, other)) === at);
    const names = new Set([...taken, ...once.flatMap(({ from, name }) => (from === undefined ? [name] : []))]);
    return once.flatMap(({ from, ...file }) => {
      if (from === undefined) return [file];
      const owner = names.has(file.name) ? "another file" : ownerOf(file.name);
      names.add(file.name);
      const taken = owner && `${owner} has the name ${file.name} in the containers`;
      const why = launchProblem(file.name) ?? taken;
      if (why === undefined) return [file];
      warn(`${file.source} is left out: ${why}`);
      return [];
    });
  };
  const files = settled([...(await opened(spec.files)), ...(await ofClassPath())], new Set());
  const shared = new Set(files.map(({ name }) => name));
  const ofRole = async (own: readonly FileToShip[]) => settled(await opened(own), shared);
  return {
    spec: {
      ...spec,
      files,
      am: { ...spec.am, files: settled(await opened(spec.am.files), new Set()) },
      roles: await Promise.all(spec.roles.map(async (role) => ({ ...role, files: await ofRole(role.files) }))),
    },
    problems,
  };
}

interface Found {
  readonly status: FileStatus | undefined;
  readonly url: string;
  readonly files: readonly Placed[];
}

function folderWarnings({ source, name }: FileToShip, { files }: Found): string[] {
  if (files.length === 0) return [`${source} has no file directly in it: nothing of it is in the containers`];
  if (name === path.basename(source)) return [];
  return [
    `${source} is a folder on the cluster: its files lie in the working folder of the containers, not in a folder ${name} there`,
  ];
}

function requireOfCluster(place: string): void {
  const scheme = splitUri(place)?.root.scheme;
  if (scheme === undefined ? path.isAbsolute(place) : scheme === "file" || isOfCluster(scheme)) return;
  throw usageError(
    `--hdfs_classpath names ${place}: it takes absolute paths and hdfs:// URLs; name the files in tony.containers.resources`,
  );
}

/** `from`: the folder that it was found in. */
interface Placed extends FileToShip {
  readonly from?: string;
}

function aFile(root: string, file: string): FileToShip {
  return { source: `${root}${file}`, name: path.basename(file), as: "file" };
}

/** Archives are always files. */
function mayBeFolder({ as, source }: FileToShip): boolean {
  return as === "file" && isOfCluster(splitUri(source)?.root.scheme ?? "");
}
