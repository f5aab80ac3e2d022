import { describe, expect, test } from "@jest/globals";
import { GssAcceptor } from "../../../../src/hadoop/security/kerberos/gss-acceptor.ts";
import { type StandInFunction, StandInKoffi } from "../../../support/stand-in-koffi.ts";

const CONTINUE_NEEDED = 1;
const FAILURE = 851_968;
const CREDENTIAL = 7n;

function put(place: unknown, value: unknown): void {
  if (Array.isArray(place)) place[0] = value;
}

/** A library whose keytab can be used, and that takes tickets with this status. */
async function accepting(status: number, more: Readonly<Record<string, StandInFunction>> = {}) {
  const stores: unknown[] = [];
  const credentials: unknown[] = [];
  const koffi: StandInKoffi = new StandInKoffi({
    gss_acquire_cred_from: (_minor, _name, _seconds, _mechanisms, usage, store, credential) => {
      stores.push({ usage, store });
      put(credential, CREDENTIAL);
      return 0;
    },
    gss_accept_sec_context: (...[, context, credential, , , caller, , answer]) => {
      credentials.push(credential);
      put(context, 8n);
      put(caller, 9n);
      koffi.give(answer, "proof");
      return status;
    },
    gss_display_name: (_minor, _name, text) => {
      koffi.give(text, "alice@EXAMPLE.COM");
      return 0;
    },
    gss_display_status: (...[, , , , , words]) => {
      koffi.give(words, "Clock skew too great");
      return 0;
    },
    ...more,
  });
  return { acceptor: await GssAcceptor.open("/k/http.keytab", async () => koffi), stores, credentials };
}

describe("the service's side of Kerberos", () => {
  test("says whom a ticket proves, and gives its own proof", async () => {
    const { acceptor, stores, credentials } = await accepting(0);
    const { principal, answer } = await acceptor.accept(Buffer.from("ticket"));
    expect([principal, answer.toString()]).toEqual(["alice@EXAMPLE.COM", "proof"]);
    expect(credentials).toEqual([CREDENTIAL]);
    expect(stores).toEqual([
      { usage: 2, store: { count: 1, elements: [{ key: "keytab", value: "FILE:/k/http.keytab" }] } },
    ]);
  });

  test("takes nobody who would send more, nor what the library refuses", async () => {
    const { acceptor } = await accepting(CONTINUE_NEEDED);
    await expect(acceptor.accept(Buffer.of(1))).rejects.toThrow("not in its first message");
    const refusing = await accepting(FAILURE);
    await expect(refusing.acceptor.accept(Buffer.of(1))).rejects.toThrow("Clock skew too great");
  });

  test("says so where its keytab cannot be used", async () => {
    await expect(accepting(0, { gss_acquire_cred_from: () => FAILURE })).rejects.toMatchObject({ code: "GSS" });
  });
});
