import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newApiKey } from "../../../src/accounts/auth/api-key.ts";
import { keyPermissionName, PERMISSIONS, SECRET_KEY_PERMISSIONS } from "../../../src/accounts/roles/permissions.ts";
import { createApp, GREENFIELD_SPECS, SPECS } from "../../../src/app/app.ts";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { type Answer, type Ask, expectHeaders, expectRefusal, seedKey, seedMerchant } from "../../support/access.ts";
import { attempt, nameOf, specNamed, UNKNOWN_ULID } from "../../support/access-attempt.ts";
import { alternativesIn, KEY_ONLY, KEY_OR_MEMBER, MEMBER_ONLY, OPEN, PAGES, USER } from "../../support/access-table.ts";
import { keyringOf } from "../../support/keyrings.ts";

const NOWHERE = `mer_${UNKNOWN_ULID}`;
const ELSEWHERE = "203.0.113.7";
const HERE = "198.51.100.23";

interface Keys {
  readonly merchantId: MerchantId;
  readonly otherMerchantId: MerchantId;
  readonly foreign: string;
  readonly expired: string;
  readonly revoked: string;
  readonly elsewhere: string;
  readonly publicFull: string;
  /** A public key whose stored row has every permission. */
  readonly publicGreedy: string;
  readonly publicEmpty: string;
  readonly empty: string;
  readonly onlyWith: ReadonlyMap<string, string>;
  readonly allWithout: ReadonlyMap<string, string>;
}

let keys: Keys;

const spelledOnKey = (permission: string) => permission.replace(":", "_").toUpperCase();

beforeAll(async () => {
  const [merchantId, otherMerchantId] = [await seedMerchant(), await seedMerchant()];
  const all = SECRET_KEY_PERMISSIONS.map(keyPermissionName);
  const wanted = [...new Set(Object.values(KEY_OR_MEMBER).map(({ permission }) => permission))];
  const seedEach = async (permissionsOf: (wanted: string) => string[]) => {
    const pairs = wanted.map(
      async (name) => [name, await seedKey(merchantId, { permissions: permissionsOf(name) })] as const,
    );
    return new Map(await Promise.all(pairs));
  };
  keys = {
    merchantId,
    otherMerchantId,
    foreign: await seedKey(otherMerchantId),
    expired: await seedKey(merchantId, { expiresAtMs: Date.now() - 1 }),
    revoked: await seedKey(merchantId, { revokedAtMs: Date.now() - HOUR_MS }),
    elsewhere: await seedKey(merchantId, { allowedIps: JSON.stringify([`${ELSEWHERE}/32`, "2001:db8::/64"]) }),
    publicFull: await seedKey(merchantId, { kind: "PUBLIC" }),
    publicGreedy: await seedKey(merchantId, { kind: "PUBLIC", permissions: PERMISSIONS.map(keyPermissionName) }),
    publicEmpty: await seedKey(merchantId, { kind: "PUBLIC", permissions: [] }),
    empty: await seedKey(merchantId, { permissions: [] }),
    onlyWith: await seedEach((name) => alternativesIn(name).slice(0, 1)),
    allWithout: await seedEach((name) => all.filter((each) => !alternativesIn(name).includes(each))),
  };
});

function keyFor(map: ReadonlyMap<string, string>, permission: string): string {
  const key = map.get(permission);
  if (key === undefined) throw new Error(`no key was made for ${permission}`);
  return key;
}

describe("the routes of the Worker", () => {
  const guarded = { ...KEY_OR_MEMBER, ...MEMBER_ONLY };

  it("are exactly those in the hand-written access table", () => {
    const written = [...Object.keys(guarded), ...Object.keys(USER), ...KEY_ONLY, ...OPEN, ...PAGES];
    expect(SPECS.map(nameOf).sort()).toEqual(written.sort());
  });

  it("are all mounted, and no other route is", () => {
    const mounted = createApp()
      .routes.filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path}`);
    expect(mounted.sort()).toEqual([...SPECS, ...GREENFIELD_SPECS].map(nameOf).sort());
    const forAll = createApp().routes.filter(({ method }) => method === "ALL");
    expect([...new Set(forAll.map(({ path }) => path))]).toEqual(["/*"]);
  });

  it("declare the same callers, permission and demands as the hand-written table", () => {
    const said = SPECS.filter((spec) => nameOf(spec) in guarded).map((spec) => [
      nameOf(spec),
      spec.callers,
      spec.permission?.split(" or ").map(spelledOnKey).join(" or "),
      [spec.isForPublicKeys, spec.needsStepUp ?? false, spec.isOwnerOnly ?? false],
    ]);
    const written = Object.entries(guarded).map(([name, { permission, demands }]) => [
      name,
      name in MEMBER_ONLY ? "MEMBER" : "MEMBER_OR_KEY",
      permission,
      [demands.includes("public"), demands.includes("step-up"), demands.includes("owner")],
    ]);
    expect(said.sort()).toEqual(written.sort());
  });

  it("declare whether they are for a signed-in user, for keys or for anyone", () => {
    const said = SPECS.filter((spec) => !(nameOf(spec) in guarded));
    const wrong = said.filter((spec) => {
      const demands = USER[nameOf(spec)];
      const ofStrangers = KEY_ONLY.includes(nameOf(spec)) ? "KEY" : "ANYBODY";
      const callers = demands === undefined ? ofStrangers : "USER";
      const needsStepUp = demands?.includes("step-up") ?? false;
      const isForOperators = demands?.includes("operator") ?? false;
      return (
        spec.callers !== callers ||
        spec.permission !== null ||
        (spec.needsStepUp ?? false) !== needsStepUp ||
        (spec.isOperatorOnly ?? false) !== isForOperators
      );
    });
    expect(wrong.map(nameOf)).toEqual([]);
  });
});

describe.each(Object.entries(KEY_OR_MEMBER))("%s", (name, { permission, demands }) => {
  const specOf = () => specNamed(name);
  const grantable = SECRET_KEY_PERMISSIONS.map(keyPermissionName);
  const isGrantable = alternativesIn(permission).some((each) => grantable.includes(each));
  /** Checks that the key passes authentication; a permission that only users may hold is still denied. */
  const expectLetIn = (answers: readonly Answer[]) => {
    const refused = answers.filter(({ status }) => status === 401 || status === 403);
    if (isGrantable) expect(refused).toEqual([]);
    else expect(refused.map(({ json }) => json?.code)).toEqual(answers.map(() => "PERMISSION_DENIED"));
  };
  const refuse = async (ask: Ask, status: number, code: string, merchantId: string = keys.merchantId) => {
    const answers = await attempt(specOf(), { merchantId }, ask);
    const refusals = answers.map((answer) => expectRefusal(answer, status, code));
    // The answer is the same whatever is wrong with the body.
    expect(new Set(refusals.map((each) => JSON.stringify(each))).size).toBe(1);
    return refusals[0];
  };

  it("answers every invalid key with the same 401", async () => {
    const good = keyFor(keys.onlyWith, permission);
    const wrongMac = good.slice(0, -1) + (good.endsWith("0") ? "1" : "0");
    const { merchantId } = keys;
    const macKeys = keyringOf(env.API_KEY_MAC_KEY);
    const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
    const unknown = newApiKey({ kind: "SECRET", merchantId, macKeys, randomBytes }).secret;
    const bad = [
      undefined,
      "",
      "letmein",
      wrongMac,
      `${good}0`,
      good.toLowerCase(),
      unknown,
      keys.expired,
      keys.revoked,
    ];
    const refusals = await Promise.all(bad.map((key) => refuse({ key }, 401, "UNAUTHORIZED")));
    expect(new Set(refusals.map((each) => JSON.stringify(each))).size).toBe(1);
    // The answer does not depend on the merchant in the path.
    expect(await refuse({ key: unknown }, 401, "UNAUTHORIZED", NOWHERE)).toEqual(refusals[0]);
  });

  it("refuses another merchant's key, in the same way whether the merchant in the path exists or not", async () => {
    const existing = await refuse({ key: keys.foreign }, 403, "MERCHANT_MISMATCH");
    for (const path of [NOWHERE, "mer_1", "x", "%00", encodeURIComponent("' OR 1=1 --")]) {
      expect(await refuse({ key: keys.foreign }, 403, "MERCHANT_MISMATCH", path)).toEqual(existing);
    }
    await refuse({ key: keyFor(keys.onlyWith, permission) }, 403, "MERCHANT_MISMATCH", keys.otherMerchantId);
  });

  it("refuses a key that has every permission except the route's, and names the missing one", async () => {
    const refusal = await refuse({ key: keyFor(keys.allWithout, permission) }, 403, "PERMISSION_DENIED");
    expect(refusal).toMatchObject({ permission, error: "Forbidden" });
    await refuse({ key: keys.empty }, 403, "PERMISSION_DENIED");
  });

  it("accepts a key that has only the route's permission, unless only users may have it", async () => {
    if (!isGrantable) {
      await refuse({ key: keyFor(keys.onlyWith, permission) }, 403, "PERMISSION_DENIED");
      return;
    }
    const answers = await attempt(
      specOf(),
      { merchantId: keys.merchantId },
      { key: keyFor(keys.onlyWith, permission) },
    );
    for (const answer of answers) {
      expectHeaders(answer);
      expect([200, 201, 400, 404, 413, 415, 422]).toContain(answer.status);
    }
  });

  const others = alternativesIn(permission).slice(1);
  if (others.length > 0) {
    it.each(others)("accepts a key that has only the alternative permission %s", async (other) => {
      const key = await seedKey(keys.merchantId, { permissions: [other] });
      const answers = await attempt(specOf(), { merchantId: keys.merchantId }, { key });
      expect(answers.filter(({ status }) => status === 401 || status === 403)).toEqual([]);
    });
  }

  it("accepts a key with an IP allowlist only from the addresses on it", async () => {
    const refusal = await refuse({ key: keys.elsewhere, headers: { "cf-connecting-ip": HERE } }, 403, "IP_NOT_ALLOWED");
    expect(JSON.stringify(refusal)).not.toContain(ELSEWHERE);
    await refuse({ key: keys.elsewhere }, 403, "IP_NOT_ALLOWED");
    for (const ip of [ELSEWHERE, "2001:db8::1", `::ffff:${ELSEWHERE}`]) {
      const answers = await attempt(
        specOf(),
        { merchantId: keys.merchantId },
        {
          key: keys.elsewhere,
          headers: { "cf-connecting-ip": ip },
        },
      );
      expectLetIn(answers);
    }
  });

  if (demands.includes("public")) {
    it("accepts a public key with the route's permission", async () => {
      const answers = await attempt(specOf(), { merchantId: keys.merchantId }, { key: keys.publicFull });
      expect(answers.filter(({ status }) => status === 401 || status === 403)).toEqual([]);
    });

    it("refuses a public key without the route's permission", async () => {
      await refuse({ key: keys.publicEmpty }, 403, "PERMISSION_DENIED");
    });

    it("may be read from any origin, refusals included, and never with credentials", async () => {
      const answers = await Promise.all([
        attempt(
          specOf(),
          { merchantId: keys.merchantId },
          { key: keys.publicFull, headers: { origin: "https://shop.example" } },
        ),
        attempt(specOf(), { merchantId: keys.merchantId }, { headers: { origin: "https://shop.example" } }),
      ]);
      for (const { headers } of answers.flat()) {
        expect(headers.get("access-control-allow-origin")).toBe("*");
        expect(headers.get("access-control-allow-credentials")).toBeNull();
        expect(headers.get("access-control-expose-headers")?.split(", ")).toContain("retry-after");
      }
    });
  } else {
    it("refuses public keys, whatever permissions they have", async () => {
      const refusal = await refuse({ key: keys.publicFull }, 403, "PUBLIC_KEY_FORBIDDEN");
      expect(await refuse({ key: keys.publicGreedy }, 403, "PUBLIC_KEY_FORBIDDEN")).toEqual(refusal);
      expect(await refuse({ key: keys.publicEmpty }, 403, "PUBLIC_KEY_FORBIDDEN")).toEqual(refusal);
    });

    it("may not be read from another origin", async () => {
      const answers = await attempt(
        specOf(),
        { merchantId: keys.merchantId },
        {
          key: keyFor(keys.onlyWith, permission),
          headers: { origin: "https://shop.example" },
        },
      );
      for (const { headers } of answers) {
        expect([...headers.keys()].filter((header) => header.startsWith("access-control-"))).toEqual([]);
      }
    });
  }

  it("decides by the key alone when a session cookie is sent with it", async () => {
    const headers = { cookie: "__Host-session=anything" };
    await refuse({ headers }, 401, "UNAUTHORIZED");
    const answers = await attempt(
      specOf(),
      { merchantId: keys.merchantId },
      { key: keyFor(keys.onlyWith, permission), headers },
    );
    expectLetIn(answers);
  });
});

describe.each(Object.keys(MEMBER_ONLY))("%s", (name) => {
  it("refuses every valid key with SESSION_REQUIRED, and an invalid one with the usual 401", async () => {
    const refuseKey = async (key: string | undefined, status: number, code: string) => {
      for (const answer of await attempt(specNamed(name), { merchantId: keys.merchantId }, { key }))
        expectRefusal(answer, status, code);
    };
    for (const key of [...keys.onlyWith.values()].slice(0, 2)) await refuseKey(key, 403, "SESSION_REQUIRED");
    await refuseKey(keys.publicFull, 403, "SESSION_REQUIRED");
    await refuseKey(keys.publicGreedy, 403, "SESSION_REQUIRED");
    await refuseKey(keys.foreign, 403, "MERCHANT_MISMATCH");
    for (const key of [undefined, "letmein", keys.expired, keys.revoked]) await refuseKey(key, 401, "UNAUTHORIZED");
  });
});
