import { expect, test } from "@jest/globals";
import { checkId, isApplicationId } from "../../../client/applications/backend.ts";

test("an id has the number of an application with four digits at least, as YARN writes it", () => {
  expect(["application_1795305600000_0001", "application_1795305600000_12345"].map(isApplicationId)).toEqual([
    true,
    true,
  ]);
  expect(["application_1795305600000_001", "application_1795305600000_1", "foo"].map(isApplicationId)).toEqual([
    false,
    false,
    false,
  ]);
  expect(() => checkId("application_1795305600000_001")).toThrow(
    '"application_1795305600000_001" is not an application\'s id; they look like application_1795305600000_0001',
  );
});
