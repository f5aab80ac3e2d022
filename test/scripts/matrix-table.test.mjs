import { expect, test } from "@jest/globals";
import { matrixTable } from "../../scripts/test/matrix-table.mjs";

test("the table of the matrix has a row for each test and a column for each cluster, and shows what did not run there", () => {
  const clusters = [
    { name: "2.10.2", tests: [] },
    {
      name: "3.4.2",
      tests: [
        { title: "three tasks", passed: true, seconds: 4.04 },
        { title: "GPUs", passed: false, seconds: 12 },
      ],
    },
    { name: "fair", tests: [{ title: "three tasks", passed: true, seconds: 5 }] },
  ];
  expect(matrixTable(clusters).split("\n")).toEqual([
    "|  | 2.10.2 | 3.4.2 | fair |",
    "| --- | --- | --- | --- |",
    "| three tasks | – | ✓ 4.0 s | ✓ 5.0 s |",
    "| GPUs | – | ✗ 12.0 s | – |",
  ]);
});
