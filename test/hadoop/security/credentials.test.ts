import { describe, expect, test } from "@jest/globals";
import {
  type NamedToken,
  renewedCredentials,
  tokenOfKind,
  withoutMasterRights,
} from "../../../src/hadoop/security/credentials.ts";
import { TokenKind } from "../../../src/hadoop/security/token.ts";

function named(kind: string, service: string, identifier = 0): NamedToken {
  return {
    alias: service,
    token: { identifier: Uint8Array.of(identifier), password: new Uint8Array(), kind, service },
  };
}
const [here, there] = [
  named(TokenKind.hdfsDelegation, "ha-hdfs:here"),
  named(TokenKind.hdfsDelegation, "ha-hdfs:there"),
];
const manager = named(TokenKind.resourceManagerDelegation, "ha-hdfs:here");
const secrets = new Map([["a", Uint8Array.of(1)]]);

describe("what a process may prove itself with", () => {
  test("has newer tokens in the place of older ones of their kind for their service alone", () => {
    const newer = named(TokenKind.hdfsDelegation, "ha-hdfs:here", 1);
    const renewed = renewedCredentials({ tokens: [here, there, manager], secrets }, [newer]);
    expect(renewed).toEqual({ tokens: [there, manager, newer], secrets });
    const [first, second] = [newer, named(TokenKind.timeline, "ha-hdfs:here", 2)];
    expect(renewedCredentials({ tokens: [here, there], secrets }, [first, second]).tokens).toEqual([
      there,
      first,
      second,
    ]);
    expect(tokenOfKind(renewed, TokenKind.resourceManagerDelegation)).toBe(manager.token);
    expect(tokenOfKind(renewed, TokenKind.timeline)).toBeUndefined();
  });

  test("goes on to tasks without the right to speak for the application", () => {
    const master = named(TokenKind.applicationMaster, "");
    const ofMaster = new Map([...secrets, ["yarn.application.am.keystore", Uint8Array.of(2)]]);
    expect(withoutMasterRights({ tokens: [master, here], secrets: ofMaster })).toEqual({ tokens: [here], secrets });
  });
});
