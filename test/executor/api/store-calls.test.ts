import { describe, expect, test } from "@jest/globals";
import { transactFor } from "../../../executor/api/store-calls.ts";
import { ApiError } from "../../../src/api/errors.ts";
import { transactions } from "../../../src/job/store/transaction.ts";

const call = { transaction: transactions.get("shared/a"), durable: false };
const answer = { revision: 1, succeeded: true, results: [] };
const linked = (transact: () => Promise<typeof answer> | undefined) => () => ({
  connected: async () => undefined,
  transact,
});

describe("what a program asks of the store", () => {
  test("goes to the ApplicationMaster in the name of its life, once one is connected", async () => {
    const asked: unknown[] = [];
    const link = () => ({
      connected: async () => void asked.push("connected"),
      transact: async (request: unknown) => {
        asked.push(request);
        return answer;
      },
    });
    expect(await transactFor(link, 4, call)).toEqual(answer);
    expect(asked).toEqual(["connected", { ...call, generation: 4 }]);
  });

  test.each([
    ["nobody can say whether it was written", "API_UNREACHABLE", "UNKNOWN"],
    ["it took too long", "API_TIMEOUT", "UNKNOWN"],
    ["the store cannot be read", "API_FAILED", "STORE_AWAY"],
    ["the container is no part of the job any more", "API_FORBIDDEN", "STORE_AWAY"],
  ])("ends with an error that says so where %s", async (_what, code, said) => {
    const link = linked(() => Promise.reject(new ApiError("lost", { code })));
    await expect(transactFor(link, 4, call)).rejects.toMatchObject({ status: 503, code: said });
  });

  test("is not said to be lost where it was never sent", async () => {
    await expect(
      transactFor(
        linked(() => undefined),
        4,
        call,
      ),
    ).rejects.toMatchObject({ code: "NO_MASTER" });
  });
});
