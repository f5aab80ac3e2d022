import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../../src/hadoop/conf/configuration.ts";
import { localName } from "../../../../src/hadoop/security/kerberos/local-name.ts";

const nameBy = (rules: string | undefined, principal: string, mechanism = "hadoop") => {
  const values = { ...(rules && { "hadoop.security.auth_to_local": rules }) };
  const all = { ...values, "hadoop.security.auth_to_local.mechanism": mechanism };
  return localName(new Configuration().withValues(all), principal, "EXAMPLE.COM");
};

describe("the short name of a principal", () => {
  test.each([
    [undefined, "alice@EXAMPLE.COM", "alice"],
    [undefined, "rm/host@EXAMPLE.COM", "rm"],
    ["DEFAULT", "alice", "alice"],
    ["RULE:[2:$1@$0](nn@EXAMPLE.COM)s/.*/hdfs/\nDEFAULT", "nn/host@EXAMPLE.COM", "hdfs"],
    ["RULE:[2:$1@$0](nn@EXAMPLE.COM)s/.*/hdfs/\nDEFAULT", "alice@EXAMPLE.COM", "alice"],
    ["RULE:[1:$1@$0](.*@OTHER.COM)s/@.*//", "bob@OTHER.COM", "bob"],
    ["RULE:[2:$1;$2](^.*;admin$)s/;admin$//", "root/admin@EXAMPLE.COM", "root"],
    ["RULE:[1:$1]s/a/o/g", "banana@X", "bonono"],
    ["RULE:[1:$1]s/a/o/", "banana@X", "bonana"],
    ["RULE:[1:$1]s/(.)(.*)/$2$1/", "alice@X", "licea"],
    ["RULE:[1:$1]/L", "ALICE@X", "alice"],
    ["RULE:[1:$1]", "ALICE@X", "ALICE"],
    ["RULE:[2:$1]s/.*/service/\nDEFAULT", "alice@EXAMPLE.COM", "alice"],
    ["RULE:[1:$1](bob)s/.*/other/\nDEFAULT", "alice@EXAMPLE.COM", "alice"],
    ["RULE:[1:$1$9]", "alice@X", "alice"],
    [" RULE:[1:$1](bob)s/a/o/ \n DEFAULT \n", "alice@EXAMPLE.COM", "alice"],
    ["RULE:[1:$1@$0](.*@X)s/@.*///L RULE:[1:nobody]", "Alice@X", "alice"],
  ])("by %j %s is %s", (rules, principal, expected) => {
    expect(nameBy(rules, principal)).toBe(expected);
  });

  test("a principal that no rule is for has none; with the mechanism mit it stays as it is", () => {
    expect(() => nameBy("DEFAULT", "alice@OTHER.COM")).toThrow(
      /No rule of hadoop.security.auth_to_local.* alice@OTHER.COM/,
    );
    expect(() => nameBy("DEFAULT", "alice@OTHER.COM")).toThrow(expect.objectContaining({ code: "KERBEROS_REALM" }));
    expect(nameBy("DEFAULT", "alice@OTHER.COM", "mit")).toBe("alice@OTHER.COM");
    expect(nameBy("RULE:[1:$1@$0]s/OTHER/HOME/", "alice@OTHER.COM", "MIT")).toBe("alice@HOME.COM");
  });

  test.each([
    ["RULE:[1:$1@$0]", /makes "alice@EXAMPLE.COM".*not a simple name/],
    ["RULE:1:$1]", /cannot be read from "RULE:1:\$1\]" on/],
    ["RULE:[1:$1](+)", /rule that cannot be read: RULE:\[1:\$1\]\(\+\)/],
  ])("%s is an error that names the key", (rules, words) => {
    expect(() => nameBy(rules, "alice@EXAMPLE.COM")).toThrow(words);
  });
});
