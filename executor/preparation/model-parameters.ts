import path from "node:path";
import { text } from "node:stream/consumers";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { TaskName } from "../../src/job/task.ts";

const FILE = "model-parameters";
const LINE = /^Model parameters: (.*)$/gm;

export interface ModelParametersOptions {
  readonly stagingUrl: string;
  readonly open: () => Promise<FileSystems>;
}

/**
 * The parameters that the program which runs before all others has found for them (`tony.application.enable-preprocess`). From that
 * program's end on they are in the staging folder, so that every later attempt and every node can read them.
 */
export class ModelParameters {
  readonly #options: ModelParametersOptions;

  constructor(options: ModelParametersOptions) {
    this.#options = options;
  }

  /** @param output the end of what the program wrote; without the line there is nothing to keep */
  async keep(output: string): Promise<void> {
    const found = parametersIn(output);
    if (found === undefined) return;
    await this.#withFile(async (file, { fileSystem }) => {
      await fileSystem.create(file, Buffer.from(found), { permission: 0o600, overwrite: true });
    });
  }

  /** Undefined where that program has reported none. */
  read(): Promise<string | undefined> {
    return this.#withFile((file, { fileSystem }) => ifThere(fileSystem.open(file).then((stream) => text(stream))));
  }

  async #withFile<Result>(
    work: (file: string, place: ReturnType<FileSystems["locate"]>) => Promise<Result>,
  ): Promise<Result> {
    const { stagingUrl, open } = this.#options;
    const fileSystems = await open();
    try {
      const place = fileSystems.locate(stagingUrl);
      return await work(path.posix.join(place.path, FILE), place);
    } finally {
      fileSystems.close();
    }
  }
}

/** The content of the last such line (com.linkedin.tony.ApplicationMaster#doPreprocessingJob). */
export function parametersIn(output: string): string | undefined {
  return Array.from(output.matchAll(LINE), ([, said = ""]) => said).at(-1);
}

/** Whether a task's program tells the parameters to the others, or is told them. */
export function partInParameters({ roles }: JobSpec, task: TaskName): "tells" | "is told" | "none" {
  const teller = roles.find(({ inMaster }) => inMaster === true);
  if (teller === undefined || roles.length === 1) return "none";
  return teller.name === task.role ? "tells" : "is told";
}
