import { expect, test } from "@jest/globals";
import { mastersFinding, nameNodeOf, resourceManagerOf, schedulerOf } from "../../../client/cluster/masters-finding.ts";

const info = (haState: string) => ({ clusterInfo: { haState, hadoopVersion: "3.4.2" } });
const status = (State: string) => ({ beans: [{ NNRole: "NameNode", State }] });

test("one ResourceManager is told with its release and scheduler", () => {
  const scheduler = schedulerOf({ scheduler: { schedulerInfo: { type: "capacityScheduler" } } });
  expect(mastersFinding("ResourceManager", [resourceManagerOf("rm:8088", info("ACTIVE"))], scheduler)).toEqual({
    subject: "masters",
    state: "well",
    found: "ResourceManager rm:8088 active; Hadoop 3.4.2; CapacityScheduler",
  });
});

test("of two of a kind each is told", () => {
  const nameNodes = [nameNodeOf("nn1:9870", status("standby")), nameNodeOf("nn2:9870", status("active"))];
  expect(mastersFinding("NameNode", nameNodes)).toEqual({
    subject: "masters",
    state: "well",
    found: "NameNode nn1:9870 standby, nn2:9870 active",
  });
});

test("one that is down is a remark: nothing takes over from the other", () => {
  const managers = [resourceManagerOf("rm1:8088", info("ACTIVE")), resourceManagerOf("rm2:8088", undefined)];
  expect(mastersFinding("ResourceManager", managers)).toEqual({
    subject: "masters",
    state: "remark",
    found: "ResourceManager rm1:8088 active, rm2:8088 does not answer; Hadoop 3.4.2",
    remedy: "start rm2:8088: nothing takes over from the other one",
  });
});

test("one that answers and is not trusted is told with that", () => {
  const trouble = "shows a certificate that is not trusted";
  expect(mastersFinding("NameNode", [{ address: "nn:9871", trouble }])).toMatchObject({
    state: "remark",
    found: "NameNode nn:9871 shows a certificate that is not trusted",
    remedy: expect.stringContaining("HDFS refuses the same"),
  });
});

test("web pages that cannot be reached stop no job", () => {
  expect(mastersFinding("NameNode", [nameNodeOf("nn:9870", { beans: [] })])).toEqual({
    subject: "masters",
    state: "remark",
    found: "NameNode nn:9870 does not answer",
    remedy: "jobs run without its web pages, and links to them do not open from here",
  });
});

test("an answer that says something else says nothing", () => {
  expect([undefined, [], {}, { scheduler: 1 }, { scheduler: { schedulerInfo: {} } }].map(schedulerOf)).toEqual(
    Array(5).fill(undefined),
  );
  expect(resourceManagerOf("rm:8088", { clusterInfo: { haState: 1 } })).toEqual({ address: "rm:8088" });
});
