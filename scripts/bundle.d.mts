import type { BuildOptions, Metafile } from "esbuild";

export function bundleProgram(
  options: BuildOptions,
  form?: { readonly forPeople?: boolean },
): Promise<{
  readonly files: readonly { readonly path: string; readonly contents: Uint8Array }[];
  readonly metafile: Metafile;
}>;
