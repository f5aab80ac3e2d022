import { expect, test } from "@jest/globals";
import { clientService, executorService, rejoinService } from "../../src/api/definition.ts";
import { tonyProto } from "../support/tony-proto.ts";

const proto = await tonyProto();

test("the services as they are served have the methods of proto/tony, and stream as it says", () => {
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
