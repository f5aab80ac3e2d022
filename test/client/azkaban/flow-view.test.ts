import { expect, test } from "@jest/globals";
import { FlowView } from "../../../client/azkaban/flow-view.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";
import { recordedContext } from "../support.ts";

const outcome = { ...allSucceeded, endedAtMs: noonishMs };
const url = "http://rm:8088/proxy/a/";

function viewed() {
  const context = recordedContext({});
  const view = new FlowView(context.output, context.now, context.now());
  return { view, lines: () => context.out.text.trimEnd().split("\n") };
}

test("the log of a flow has each address of a job once, when it has one", () => {
  const { view, lines } = viewed();
  for (const told of ["", url, url, "http://other/", "http://other/"]) view.trackingUrl(told);
  expect(lines()).toEqual([
    expect.stringMatching(new RegExp(` Tracking URL: ${url}$`)),
    expect.stringMatching(/ Tracking URL: http:\/\/other\/$/),
  ]);
});

test("who ends a flow is not told what a second Ctrl-C does", () => {
  const { view, lines } = viewed();
  view.ending();
  expect(lines()).toEqual([expect.stringMatching(/ Ending the job$/)]);
});

test("the flow is told of a job that has ended: its last status and address; before that nothing", () => {
  const { view, lines } = viewed();
  view.trackingUrl(url);
  view.show(aJobStatus({ generation: 1 }));
  view.show(aJobStatus({ generation: 2 }));
  view.trackingUrl("");
  expect(lines().at(1)).toMatch(new RegExp(`AM running on 127.0.0.12 +${url}$`));
  expect(view.end).toBeUndefined();
  view.ended({ outcome, report: aReport({ state: "FINISHED" }), exitCode: 0 });
  expect(lines().join("\n")).toContain("SUCCEEDED");
  expect(view.end).toMatchObject({ id: aReport().id, outcome, trackingUrl: url, status: { generation: 2 } });
});
