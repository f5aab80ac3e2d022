import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import type { GssApi, GssContext } from "../../../../src/hadoop/security/kerberos/gss-api.ts";
import { bufferOf, loadGssApi, loadGssFunctions } from "../../../../src/hadoop/security/kerberos/libgssapi.ts";
import { type StandInFunction, StandInKoffi } from "../../../support/stand-in-koffi.ts";

/** MUTUAL, REPLAY, SEQUENCE, CONF and INTEG, as RFC 2744 numbers them. */
const ALL_FLAGS = 2 + 4 + 8 + 16 + 32;
const CONTINUE_NEEDED = 1;
const FAILURE = 851_968;

function put(place: unknown, value: unknown): void {
  if (Array.isArray(place)) place[0] = value;
}

async function library(functions: (koffi: () => StandInKoffi) => Readonly<Record<string, StandInFunction>>) {
  const koffi: StandInKoffi = new StandInKoffi(functions(() => koffi));
  return { koffi, gss: await loadGssApi(async () => koffi) };
}

/** A library that logs alice in, and whose server answers as it is told. */
async function loggedIn(
  functions: (koffi: () => StandInKoffi) => Readonly<Record<string, StandInFunction>> = () => ({}),
) {
  const { gss, koffi } = await library((it) => ({
    gss_acquire_cred_from: (_minor, _name, _seconds, _mechanisms, _usage, _store, credential) => {
      put(credential, 7n);
      return 0;
    },
    gss_inquire_cred: (_minor, _credential, name, seconds) => {
      put(name, 8n);
      put(seconds, 3_600);
      return 0;
    },
    gss_display_name: (_minor, _name, text) => {
      it().give(text, "alice@EXAMPLE.COM");
      return 0;
    },
    ...functions(it),
  }));
  return { gss, koffi, credential: await gss.acquire(undefined) };
}

async function exchange(functions: (koffi: () => StandInKoffi) => Readonly<Record<string, StandInFunction>>) {
  const { gss, credential } = await loggedIn(functions);
  return gss.initiate(credential, "krb5", "rm/host@EXAMPLE.COM");
}

/** An exchange of two messages, with these flags at its end. */
function answering(it: () => StandInKoffi, flags = ALL_FLAGS): Readonly<Record<string, StandInFunction>> {
  let steps = 0;
  return {
    gss_init_sec_context: (...[, , context, , , , , , , , token, agreed]) => {
      steps++;
      put(context, 9n);
      it().give(token, `token ${steps}`);
      put(agreed, flags);
      return steps === 1 ? CONTINUE_NEEDED : 0;
    },
  };
}

describe("the Kerberos library of a machine", () => {
  test("tells whose ticket there is, and for how long", async () => {
    const { credential } = await loggedIn();
    expect(credential).toMatchObject({ principal: "alice@EXAMPLE.COM", remainingSeconds: 3_600 });
  });

  test("keeps the tickets of a keytab in memory", async () => {
    const stores: unknown[] = [];
    const { gss } = await library(() => ({
      gss_acquire_cred_from: (...parameters) => {
        stores.push(parameters[5]);
        return 0;
      },
    }));
    await gss.acquire({ principal: "job@EXAMPLE.COM", keytab: "/k/job.keytab" });
    expect(stores).toEqual([
      {
        count: 2,
        elements: [
          { key: "client_keytab", value: "FILE:/k/job.keytab" },
          { key: "ccache", value: "MEMORY:job@EXAMPLE.COM /k/job.keytab" },
        ],
      },
    ]);
  });

  test("says a failure in the library's words, of both kinds", async () => {
    const { gss } = await library((it) => ({
      gss_acquire_cred_from: (minor) => {
        put(minor, 42);
        return FAILURE;
      },
      gss_display_status: (_minor, status, _kind, _mechanism, _more, text) => {
        it().give(text, status === 42 ? "No credentials cache found" : "Unspecified GSS failure");
        return 0;
      },
    }));
    await expect(gss.acquire(undefined)).rejects.toThrow("Unspecified GSS failure: No credentials cache found");
  });

  test("says where the call itself fails", async () => {
    const koffi = new StandInKoffi({});
    const broken = Object.assign(() => 0, {
      async: (...parameters: readonly unknown[]) => {
        const told = parameters.at(-1);
        if (typeof told === "function") told(new Error("no thread"), 0);
      },
    });
    const gss = await loadGssApi(async () => Object.assign(koffi, { load: () => ({ func: () => broken }) }));
    await expect(gss.acquire(undefined)).rejects.toThrow("A call with 8 parameters failed: no thread");
  });

  test.each<[string, (gss: GssApi) => Promise<string>, string]>([
    ["the default one", (gss) => gss.defaultRealm(), "EXAMPLE.COM"],
    ["a host's", (gss) => gss.realmOf("rm.example.com"), "EXAMPLE.COM"],
  ])("knows realms: %s", async (_which, asked, realm) => {
    const { gss } = await loggedIn();
    expect(await asked(gss)).toBe(realm);
  });

  test("takes the default realm for a host that has none of its own", async () => {
    const names = ["host/rm@", "anyone@EXAMPLE.COM"];
    const { gss } = await library((it) => ({
      gss_display_name: (_minor, _name, text) => {
        it().give(text, names.shift() ?? "");
        return 0;
      },
    }));
    expect(await gss.realmOf("rm")).toBe("EXAMPLE.COM");
  });

  test("is said to be missing, with what installs it", async () => {
    const koffi = Object.assign(new StandInKoffi({}), {
      load: () => {
        throw new Error("cannot open shared object file");
      },
    });
    await expect(loadGssApi(async () => koffi)).rejects.toThrow(
      /libgssapi_krb5.*cannot open shared object file\n.*apt-get install/s,
    );
    await expect(loadGssApi(() => Promise.reject(new Error("no such package")))).rejects.toThrow(
      /koffi.*no such package\n.*npm install -g koffi@/s,
    );
  });
});

describe("an exchange with a server", () => {
  test("goes on until both have proved themselves", async () => {
    const context = await exchange((it) => answering(it));
    expect(await context.step(Buffer.alloc(0))).toEqual({ token: Buffer.from("token 1"), done: false });
    expect(await context.step(Buffer.from("answer"))).toEqual({ token: Buffer.from("token 2"), done: true });
  });

  test("is refused where the server leaves out a protection", async () => {
    const context = await exchange((it) => answering(it, ALL_FLAGS - 16));
    await context.step(Buffer.alloc(0));
    await expect(context.step(Buffer.from("answer"))).rejects.toThrow(/does not do all that was asked: flags 46 of 62/);
  });

  test("takes no credential of another library", async () => {
    const { gss } = await loggedIn();
    const stranger = { principal: "alice@EXAMPLE.COM", remainingSeconds: 1 };
    expect(() => gss.initiate(stranger, "spnego", "HTTP/host@EXAMPLE.COM")).toThrow("not acquired here");
  });
});

describe("messages after it", () => {
  function protectedBy(isEncrypted: boolean): Promise<GssContext> {
    return exchange((it) => ({
      gss_wrap: (_minor, _context, _confidential, _quality, _message, encrypted, wrapped) => {
        put(encrypted, isEncrypted ? 1 : 0);
        it().give(wrapped, "wrapped");
        return 0;
      },
      gss_unwrap: (_minor, _context, _token, message, encrypted) => {
        put(encrypted, isEncrypted ? 1 : 0);
        it().give(message, "plain");
        return 0;
      },
      gss_wrap_size_limit: (_minor, _context, _confidential, _quality, _bytes, most) => {
        put(most, 65_000);
        return 0;
      },
    }));
  }

  test("are wrapped and unwrapped, and it is known how long they may be", async () => {
    const context = await protectedBy(true);
    expect(context.wrap(Buffer.from("plain"), true)).toEqual(Buffer.from("wrapped"));
    expect(context.unwrap(Buffer.from("wrapped"))).toEqual({ message: Buffer.from("plain"), confidential: true });
    expect(context.maxMessageBytes(65_536, true)).toBe(65_000);
  });

  test("never leave in clear text when they are to be confidential", async () => {
    const context = await protectedBy(false);
    expect(context.wrap(Buffer.from("plain"), false)).toEqual(Buffer.from("wrapped"));
    expect(() => context.wrap(Buffer.from("plain"), true)).toThrow("did not encrypt");
    expect(context.unwrap(Buffer.from("wrapped")).confidential).toBe(false);
  });

  test("that were changed on the way are refused", async () => {
    const context = await exchange((it) => ({
      gss_unwrap: () => FAILURE,
      gss_display_status: (_minor, _status, _kind, _mechanism, _more, text) => {
        it().give(text, "A token had an invalid MIC");
        return 0;
      },
    }));
    expect(() => context.unwrap(Buffer.from("forged"))).toThrow("A token had an invalid MIC");
  });
});

describe("what a call on another thread works on, when nobody else has it any more", () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  /** Two rounds: what the first one finds unreachable is told after it. */
  async function collect(): Promise<void> {
    for (let round = 0; round < 2; round++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /** A library whose calls on other threads return when they are told to, and the handles that it was told to free. */
  async function machine() {
    const freed: unknown[] = [];
    const free: StandInFunction = (_minor, place) => {
      freed.push(Array.isArray(place) ? place[0] : place);
      return 0;
    };
    const pending: (() => void)[] = [];
    const frees = { gss_release_name: free, gss_release_cred: free, gss_delete_sec_context: free };
    const koffi = new StandInKoffi(frees, (end) => pending.push(end));
    const answer = () => {
      for (const end of pending.splice(0)) end();
    };
    return { functions: await loadGssFunctions(async () => koffi), freed, answer };
  }

  test.each(["name", "credential", "context"] as const)(
    "a %s is freed after it has returned, and not before",
    async (kind) => {
      const { functions, freed, answer } = await machine();
      // In a function of its own: of what it made nothing is left but the call.
      const begin = () => functions.onThread(functions.canonicalizeName, [functions.held(kind, 7n), null, [0n]]);
      const call = begin();
      await collect();
      expect(freed).toEqual([]);
      answer();
      await call;
      await collect();
      expect(freed).toEqual([7n]);
    },
  );

  test("memory is kept, too", async () => {
    const { functions, answer } = await machine();
    const begin = () => {
      const message = Buffer.from("a message");
      return { call: functions.onThread(functions.acceptContext, [bufferOf(message)]), message: new WeakRef(message) };
    };
    const { call, message } = begin();
    await collect();
    expect(message.deref()?.toString()).toBe("a message");
    answer();
    await call;
  });
});
