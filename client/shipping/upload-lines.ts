import { ownerOf, SOURCE_NAME } from "../../src/job/launch/container-names.ts";
import { sizeWords } from "../../src/job/reasons/words.ts";
import { formatDuration } from "../output/format.ts";
import type { PlannedFile } from "./shipping.ts";

/** The upload of one file or archive. */
export interface UploadedPart {
  readonly what: string;
  readonly uploadedBytes: number;
  readonly totalBytes: number;
}

/** `  upload  tony-ts runtime 94.3 MiB · program 6 KiB   0.8 s` */
export function uploadLine(parts: readonly UploadedPart[], tookMs: number): string {
  const sent = parts.filter(({ uploadedBytes }) => uploadedBytes > 0);
  const cachedBytes = parts.reduce(
    (sum, { uploadedBytes, totalBytes }) => sum + (uploadedBytes > 0 ? 0 : totalBytes),
    0,
  );
  if (sent.length === 0) return `  upload  nothing: ${sizeWords(cachedBytes)} are cached`;
  const listed = sizesByName(sent.map(({ what, uploadedBytes }) => [what, uploadedBytes])).join(" · ");
  const rest = cachedBytes > 0 ? ` · ${sizeWords(cachedBytes)} were cached` : "";
  return `  upload  ${listed}   ${formatDuration(tookMs)}${rest}`;
}

/** `          src-dir: 14 files, 32 KiB; left out: .git`, below the line of the upload. */
export function uploadRemark(link: string, remark: string): string {
  return `          ${link}: ${remark}`;
}

/** Adds up the bytes in progress, for a bar on a terminal. */
export class UploadProgress {
  readonly #parts = new Map<string, { sentBytes: number; totalBytes: number }>();

  update(link: string, sentBytes: number, totalBytes: number): void {
    this.#parts.set(link, { sentBytes, totalBytes });
  }

  /** `  upload  [######......]  48 %  45.2 of 94.3 MiB` */
  line(width = 24): string {
    const parts = [...this.#parts.values()];
    const sent = parts.reduce((sum, part) => sum + part.sentBytes, 0);
    const total = parts.reduce((sum, part) => sum + part.totalBytes, 0);
    const share = total === 0 ? 0 : sent / total;
    const done = Math.floor(share * width);
    const bar = `[${"#".repeat(done)}${".".repeat(width - done)}]`;
    return `  upload  ${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${sizeWords(sent)} of ${sizeWords(total)}`;
  }
}

/** The line for a dry run: `  would upload tony-ts runtime 94.3 MiB · train.py 6 KiB · 1.6 MiB are cached` */
export function planLine(files: readonly PlannedFile[]): string {
  const label = "  would upload";
  const cachedBytes = files.reduce((sum, { cached, sizeBytes }) => sum + (cached ? sizeBytes : 0), 0);
  const listed = sizesByName(
    files.filter(({ cached }) => !cached).map(({ link, sizeBytes }) => [nameOf(link), sizeBytes]),
  );
  const rest = cachedBytes > 0 ? [`${sizeWords(cachedBytes)} are cached`] : [];
  return `${label} ${[...(listed.length === 0 ? ["nothing"] : listed), ...rest].join(" · ")}`;
}

/** The name of a shipped file for people: all files of our own, Node included, are one thing to them. */
export function nameOf(link: string): string {
  return link !== SOURCE_NAME && ownerOf(link) === "tony-ts" ? "tony-ts runtime" : link;
}

function sizesByName(files: readonly (readonly [name: string, sizeBytes: number])[]): string[] {
  const sizes = new Map<string, number>();
  for (const [name, sizeBytes] of files) sizes.set(name, (sizes.get(name) ?? 0) + sizeBytes);
  return Array.from(sizes, ([name, sizeBytes]) => `${name} ${sizeWords(sizeBytes)}`);
}
