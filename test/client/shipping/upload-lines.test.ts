import { expect, test } from "@jest/globals";
import { nameOf, planLine, UploadProgress, uploadLine, uploadRemark } from "../../../client/shipping/upload-lines.ts";

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

test("where nothing was there before, nothing is said of it", () => {
  const one = { what: "train.py", uploadedBytes: 1, totalBytes: 1 };
  expect(uploadLine([one, { ...one, what: "net.py" }], 800)).toBe("  upload  train.py 1 B · net.py 1 B   0.8 s");
  expect(planLine([{ link: "train.py", sizeBytes: 1, cached: false, remarks: [] }])).toBe(
    "  would upload train.py 1 B",
  );
  expect(planLine([])).toBe("  would upload nothing");
});

test("a remark comes below the line, with the name of what it is about", () => {
  expect(uploadRemark("src-dir", "14 files; left out: .git")).toBe("          src-dir: 14 files; left out: .git");
});

test("where all is there, it is said how much that is", () => {
  const cached = { what: "node", uploadedBytes: 0, totalBytes: 90 * MIB };
  expect(uploadLine([cached, { ...cached, totalBytes: MIB }], 800)).toBe("  upload  nothing: 91 MiB are cached");
  expect(planLine([{ link: "node", sizeBytes: MIB, cached: true, remarks: [] }])).toBe(
    "  would upload nothing · 1 MiB are cached",
  );
});

test("an upload that is under way is shown as what was sent of all that was begun; its bar is full at the end alone", () => {
  const progress = new UploadProgress();
  expect(progress.line(10)).toBe("  upload  [..........]   0 %  0 B of 0 B");
  progress.update("node", MIB, 3 * MIB);
  progress.update("node", 2 * MIB, 3 * MIB);
  progress.update("venv", 0, MIB);
  expect(progress.line(10)).toBe("  upload  [#####.....]  50 %  2 MiB of 4 MiB");
  progress.update("venv", MIB - 1, MIB);
  progress.update("node", 3 * MIB, 3 * MIB);
  expect(progress.line(10)).toMatch(/^ {2}upload {2}\[#########\.\] {2}99 %/);
  progress.update("venv", MIB, MIB);
  expect(progress.line(10)).toBe("  upload  [##########] 100 %  4 MiB of 4 MiB");
  expect(progress.line()).toBe("  upload  [########################] 100 %  4 MiB of 4 MiB");
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
