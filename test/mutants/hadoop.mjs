import { mutantsOf } from "./mutant.mjs";

/** Bugs of the Hadoop client. */
export const HADOOP_MUTANTS = [
  ...mutantsOf("src/hadoop/security/writable.ts", { unit: "hadoop/security/" }, [
    {
      bug: "−112 is read as a length",
      from: "if (first >= smallestSingle) return first;",
      to: "if (first > smallestSingle) return first;",
    },
    { bug: "−112 is written in two bytes", from: "value >= smallestSingle &&", to: "value > smallestSingle &&" },
    { bug: "a negative number's bytes are not turned", from: "Number(negative ? ~value : value)", to: "Number(value)" },
    { bug: "bytes that are missing are read", from: "count < 0 || end > this.#bytes.length", to: "count < 0" },
  ]),
  ...mutantsOf("src/hadoop/rpc/connection.ts", { unit: "hadoop/rpc/" }, [
    {
      bug: "a call whose answer does not come waits for ever",
      from: "this.#take(callId)?.reject(\n          new RpcTimeoutError(`${method} at ${this.#where}: no answer within ${timeoutMs} ms`),\n        );",
      to: "",
    },
    {
      bug: "calls in flight are forgotten when the connection ends",
      from: "for (const callId of [...this.#calls.keys()]) this.#take(callId)?.reject(error);",
      to: "",
    },
    {
      bug: "a bare frame on a protected connection is believed",
      from: "} else if (!unwrapped && this.#mustBeWrapped) {",
      to: "} else if (false) {",
      caughtBy: { unit: "hadoop/rpc/" },
    },
  ]),
  ...mutantsOf("src/hadoop/rpc/call-ids.ts", { unit: "hadoop/rpc/call-ids" }, [
    { bug: "a call gets the number of one that is still out", from: "while (isOut(this.#last))", to: "while (false)" },
    { bug: "call numbers do not wrap", from: "this.#last === largestCallId ? 0 : ", to: "" },
  ]),
  ...mutantsOf("src/hadoop/rpc/retry.ts", { unit: "hadoop/rpc/" }, [
    {
      bug: "a call that may not be repeated is",
      from: 'if (!failed.repeatable && !untouchedCodes.has(error.code)) return { kind: "fail" };',
      to: "",
    },
    {
      bug: "calls are tried for ever",
      from: 'if (failed.elapsedMs >= policy.giveUpAfterMs) return { kind: "fail" };',
      to: "",
    },
    {
      bug: "the standby is asked again and again",
      from: "endpointCount > 1 && elsewhereCodes.has(error.code)",
      to: "false",
    },
  ]),
  ...mutantsOf("src/hadoop/back-off.ts", { unit: "hadoop/rpc/" }, [
    { bug: "clients come back together", from: "whole * (0.5 + random / 2)", to: "whole" },
    {
      bug: "pauses grow without end",
      from: "Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30))",
      to: "firstMs * 2 ** (failures - 1)",
    },
  ]),
  ...mutantsOf("src/hadoop/rpc/endpoints.ts", { unit: "hadoop/rpc/" }, [
    {
      bug: "two calls that fail together step over an endpoint",
      from: "if (failed === this.current) this.#current",
      to: "this.#current",
    },
  ]),
  ...mutantsOf("src/hadoop/hdfs/create-readable.ts", { unit: "hadoop/hdfs/create-readable.test" }, [
    {
      bug: "a part of a file counts as readable",
      from: "if (found?.lengthBytes === lengthBytes) return true;",
      to: "if (found !== undefined) return true;",
    },
  ]),
  ...mutantsOf("client/shipping/cache.ts", { unit: "client/shipping/shipping.test" }, [
    {
      bug: "a short upload is cached",
      from: "      if (lengthBytes !== key.sizeBytes) {\n        throw new UserError(`${key.name}:",
      to: "      if (lengthBytes > key.sizeBytes) {\n        throw new UserError(`${key.name}:",
    },
    { bug: "a damaged entry is used", from: "if (status.lengthBytes !== key.sizeBytes) {", to: "if (false) {" },
    {
      bug: "a lost race leaves its upload behind",
      from: "if (!(await this.fileSystem.rename(temporary, file))) await this.fileSystem.delete(temporary);",
      to: "await this.fileSystem.rename(temporary, file);",
    },
    {
      bug: "everybody may read a private entry",
      from: "private: { folder: 0o700, file: 0o600 }",
      to: "private: { folder: 0o755, file: 0o644 }",
    },
  ]),
  ...mutantsOf("client/staging/folder-trust.ts", { unit: "client/staging/folder-trust" }, [
    { bug: "another user's entry is run", from: "if (!owners.has(owner)) {", to: "if (false) {" },
    {
      bug: "a folder that its group may change is trusted",
      from: "const groupOrAll = 0o022;",
      to: "const groupOrAll = 0o002;",
    },
  ]),
];
