import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { givenTokens } from "../../../client/cluster/given-tokens.ts";
import type { NamedToken } from "../../../src/hadoop/security/credentials.ts";
import { writeTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { aDelegationToken } from "../../support/tokens.ts";

const folder = mkdtempSync(join(tmpdir(), "tony-given-"));
afterAll(() => rmSync(folder, { recursive: true }));

function given(tokens: readonly NamedToken[]) {
  const file = join(folder, "tokens");
  writeFileSync(file, writeTokenFile({ tokens: [...tokens], secrets: new Map() }));
  return givenTokens({ HADOOP_TOKEN_FILE_LOCATION: file });
}

const delegation = aDelegationToken(1, 2);
/** A token whose kind says nothing of an owner. */
function opaque(kind: string): NamedToken {
  const [identifier, password] = [new Uint8Array([1]), new Uint8Array([2])];
  return { alias: kind, token: { identifier, password, kind, service: "" } };
}

test("the tokens of a container are given, without the one that speaks for its application, and their owner is who one of them names", () => {
  const held = given([opaque("YARN_AM_RM_TOKEN"), opaque("ours"), delegation]);
  expect(held?.file).toBe(join(folder, "tokens"));
  expect(held?.credentials.tokens.map(({ token }) => token.kind)).toEqual(["ours", "HDFS_DELEGATION_TOKEN"]);
  expect(held?.owner).toBe("ada");
});

test("tokens that name nobody have no owner", () => {
  expect(given([opaque("ours")])?.owner).toBeUndefined();
});

test.each([[{}], [{ HADOOP_TOKEN_FILE_LOCATION: "" }]])("nothing is given by %j", (environment) => {
  expect(givenTokens(environment)).toBeUndefined();
});

test.each([
  ["that is not there", "none", /names \/.*\/none, whose delegation tokens cannot be read: ENOENT/],
  ["that is no token file", "text", /names \/.*\/text, whose delegation tokens cannot be read: [^E]/],
])("a file %s is refused, whatever else could log in, and how to do without it is said", (_what, name, message) => {
  writeFileSync(join(folder, "text"), "hello");
  expect(() => givenTokens({ HADOOP_TOKEN_FILE_LOCATION: join(folder, name) })).toThrow(
    expect.objectContaining({
      ...{ name: "UserError", code: "TOKEN_FILE", exitCode: 3, cause: expect.any(Error) },
      message: expect.stringMatching(message),
    }),
  );
  expect(() => givenTokens({ HADOOP_TOKEN_FILE_LOCATION: join(folder, name) })).toThrow(
    /or unset HADOOP_TOKEN_FILE_LOCATION to use a Kerberos ticket$/,
  );
});
