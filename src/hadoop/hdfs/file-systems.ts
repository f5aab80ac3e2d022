import { join } from "node:path/posix";
import type { Configuration } from "../conf/configuration.ts";
import { HadoopError } from "../errors.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import type { FileSystem } from "./file-system.ts";
import { LocalFileSystem } from "./local.ts";
import { nameNodeEndpoints, nameNodeTokenService } from "./namenodes.ts";
import { resolveMount, viewHomePrefix } from "./viewfs.ts";
import { WebHdfs, type WebHdfsOptions } from "./webhdfs.ts";

/** A path together with its file system. */
export interface LocatedPath {
  readonly fileSystem: FileSystem;
  readonly path: string;
}

/** Which configuration to use, and as whom. */
export interface FileSystemsOptions {
  readonly configuration: Configuration;
  /** The identity under which files are read and written; see simpleCredentials. */
  readonly credentials: CredentialsProvider;
  /** The address of an HttpFS or Knox gateway to the default file system, used instead of its NameNodes. */
  readonly gateway?: string | undefined;
  readonly webHdfs?: Pick<WebHdfsOptions, "connectTimeoutMs" | "answerTimeoutMs" | "idleTimeoutMs" | "failover">;
}

/** A URI without its path: `hdfs`, `nameservice`. */
interface Root {
  readonly scheme: string;
  readonly authority: string;
}

/** Opens the file systems on which a site's paths lie, each once. */
export class FileSystems {
  readonly #options: FileSystemsOptions;
  readonly #open = new Map<string, FileSystem>();

  constructor(options: FileSystemsOptions) {
    this.#options = options;
  }

  /**
   * @param pathOrUri `/path` on the default file system (`fs.defaultFS`), or `scheme://authority/path`; schemes hdfs, webhdfs,
   *   swebhdfs, viewfs and file
   * @throws ConfigurationError naming the key, for another scheme or a missing address
   */
  locate(pathOrUri: string): LocatedPath {
    const { root, path } = this.#split(pathOrUri);
    if (root.scheme === "viewfs") return this.locate(resolveMount(this.#options.configuration, root.authority, path));
    return { fileSystem: this.#fileSystem(root, pathOrUri), path };
  }

  /** The user's home on the default file system. It need not exist. */
  async home(): Promise<LocatedPath> {
    const { configuration, credentials } = this.#options;
    const { root } = this.#split("/");
    if (root.scheme === "viewfs") {
      return this.locate(join(viewHomePrefix(configuration, root.authority), await credentials.user()));
    }
    const { fileSystem } = this.locate("/");
    return { fileSystem, path: await fileSystem.homeDirectory() };
  }

  /** Closes idle connections of all file systems. */
  close(): void {
    for (const fileSystem of this.#open.values()) fileSystem.close();
  }

  #split(pathOrUri: string): { root: Root; path: string } {
    const uri = splitUri(pathOrUri);
    const { configuration } = this.#options;
    const defaultUri = configuration.get("fs.defaultFS") ?? "file:///";
    const defaultRoot = splitUri(defaultUri)?.root;
    if (defaultRoot === undefined) {
      throw configuration.invalid("fs.defaultFS", `must be a URI such as hdfs://nameservice, not "${defaultUri}"`);
    }
    if (uri === undefined) return { root: defaultRoot, path: pathOrUri };
    // `hdfs:///path` means the default file system if that is an hdfs.
    const authorityMissing = uri.root.authority === "" && uri.root.scheme === defaultRoot.scheme;
    return authorityMissing ? { root: defaultRoot, path: uri.path } : uri;
  }

  #fileSystem(root: Root, asked: string): FileSystem {
    const key = `${root.scheme}://${root.authority}`;
    let fileSystem = this.#open.get(key);
    if (fileSystem === undefined) {
      fileSystem = this.#create(root, key, asked);
      this.#open.set(key, fileSystem);
    }
    return fileSystem;
  }

  #create(root: Root, uri: string, asked: string): FileSystem {
    const { configuration, credentials, gateway, webHdfs = {} } = this.#options;
    switch (root.scheme) {
      case "file":
        return new LocalFileSystem();
      case "webhdfs":
        return new WebHdfs({ ...webHdfs, uri, endpoints: [`http://${root.authority}`], credentials });
      case "swebhdfs":
        return new WebHdfs({ ...webHdfs, uri, endpoints: [`https://${root.authority}`], credentials });
      case "hdfs": {
        const behindGateway = gateway !== undefined && this.#isDefault(root);
        if (behindGateway) return new WebHdfs({ ...webHdfs, uri, endpoints: [gateway], gateway: true, credentials });
        const endpoints = nameNodeEndpoints(configuration, root.authority);
        const tokenService = nameNodeTokenService(configuration, root.authority);
        return new WebHdfs({ ...webHdfs, uri, endpoints, tokenService, credentials });
      }
      default:
        throw unsupported(configuration, root.scheme, asked);
    }
  }

  #isDefault(root: Root): boolean {
    const { root: fallback } = this.#split("/");
    return fallback.scheme === root.scheme && fallback.authority === root.authority;
  }
}

function unsupported(configuration: Configuration, scheme: string, asked: string): HadoopError {
  const supported = "supported are hdfs, webhdfs, swebhdfs, viewfs and file";
  if (splitUri(asked) === undefined) {
    return configuration.invalid(
      "fs.defaultFS",
      `names the file system "${scheme}", which is not supported; ${supported}`,
      "FILE_SYSTEM_UNSUPPORTED",
    );
  }
  return new HadoopError(`${asked}: the file system "${scheme}" is not supported; ${supported}`, {
    code: "FILE_SYSTEM_UNSUPPORTED",
  });
}

/** Scheme, authority and path of a URI; undefined for a plain path. Paths are not percent-decoded, as in Hadoop's Path. */
export function splitUri(text: string): { root: Root; path: string } | undefined {
  const [, scheme, authority = "", path = ""] = /^([a-zA-Z][a-zA-Z0-9+.-]*):(?:\/\/([^/]*))?(\/.*)?$/.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  return { root: { scheme: scheme.toLowerCase(), authority }, path: path === "" ? "/" : path };
}
