import { expect, test } from "@jest/globals";
import { nameOf, planLine, uploadLine } from "../../../client/shipping/upload-lines.ts";

const MIB = 1_048_576;

test("an upload's line adds up what is ours and names the job's own files", () => {
  const part = (link: string, uploadedBytes: number, totalBytes = uploadedBytes) => ({
    ...{ what: nameOf(link), uploadedBytes, totalBytes },
  });
  const ours = [part("node", 90 * MIB), part("am.cjs", 2 * MIB), part("am.cjs.cache", 0, MIB), part("src-dir", MIB)];
  expect(uploadLine([...ours, part("train.py", 2048)], 800)).toBe(
    "  upload  tony-ts runtime 92 MiB · src-dir 1 MiB · train.py 2 KiB   0.8 s · 1 MiB were cached",
  );
});

test("what would be uploaded is told by the same names", () => {
  const file = (link: string, sizeBytes: number, cached = false) => ({ link, sizeBytes, cached, remarks: [] });
  const files = [
    file("executor.cjs", MIB),
    file("koffi-x64.node", MIB),
    file("venv", 3 * MIB),
    file("node", MIB, true),
  ];
  expect(planLine(files)).toBe("  would upload tony-ts runtime 2 MiB · venv 3 MiB · 1 MiB are cached");
});
