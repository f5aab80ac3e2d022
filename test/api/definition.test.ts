import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import protobuf from "protobufjs";
import { clientService, executorService, rejoinService } from "../../src/api/definition.ts";
import { packageRoot } from "../../src/programs.ts";

describe("the services as they are served", () => {
  const proto = protobuf.loadSync(join(packageRoot(), "proto", "tony", "tony.proto"));

  test("have the methods of proto/tony, and stream as it says", () => {
    const declared = ["ExecutorService", "RejoinService", "ClientService"].flatMap((name) =>
      proto.lookupService(`tony.v1.${name}`).methodsArray.map((method) => ({
        path: `/tony.v1.${name}/${method.name}`,
        requestStream: method.requestStream ?? false,
        responseStream: method.responseStream ?? false,
      })),
    );
    const served = [executorService, rejoinService, clientService].flatMap((service) =>
      Object.values(service).map(({ path, requestStream, responseStream }) => ({
        path,
        requestStream,
        responseStream,
      })),
    );
    expect(served).toEqual(declared);
  });
});
