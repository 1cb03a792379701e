import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newApiKey } from "../../../src/accounts/auth/api-key.ts";
import { keyPermissionName, PERMISSIONS, SECRET_KEY_PERMISSIONS } from "../../../src/accounts/teams/permissions.ts";
import { createApp, SPECS } from "../../../src/app/app.ts";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { type Answer, type Ask, expectHeaders, expectRefusal, seedKey, seedMerchant } from "../../support/access.ts";
import { knock, nameOf, specNamed, UNKNOWN_ULID } from "../../support/access-knock.ts";
import { KEY_OR_MEMBER, MEMBER_ONLY, OPEN, PAGES, USER } from "../../support/access-table.ts";
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
  /** A public key whose row claims every permission there is. */
  readonly publicGreedy: string;
  readonly publicEmpty: string;
  readonly empty: string;
  readonly onlyWith: ReadonlyMap<string, string>;
  readonly allWithout: ReadonlyMap<string, string>;
}

let keys: Keys;

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
    onlyWith: await seedEach((name) => [name]),
    allWithout: await seedEach((name) => all.filter((each) => each !== name)),
  };
});

function keyFor(map: ReadonlyMap<string, string>, permission: string): string {
  const key = map.get(permission);
  if (key === undefined) throw new Error(`no key was made for ${permission}`);
  return key;
}

describe("the routes of the Worker", () => {
  const guarded = { ...KEY_OR_MEMBER, ...MEMBER_ONLY };

  it("are exactly those whose needs are written down by hand", () => {
    const written = [...Object.keys(guarded), ...Object.keys(USER), ...OPEN, ...PAGES];
    expect(SPECS.map(nameOf).sort()).toEqual(written.sort());
  });

  it("are all mounted, and nothing else is", () => {
    const mounted = createApp()
      .routes.filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path}`);
    expect(mounted.sort()).toEqual(SPECS.map(nameOf).sort());
    const forAll = createApp().routes.filter(({ method }) => method === "ALL");
    expect([...new Set(forAll.map(({ path }) => path))]).toEqual(["/*"]);
  });

  it("say of themselves what is written down by hand", () => {
    const said = SPECS.filter((spec) => nameOf(spec) in guarded).map((spec) => [
      nameOf(spec),
      spec.callers,
      spec.permission?.replace(":", "_").toUpperCase(),
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

  it("that a person calls for themselves, or anybody, say so", () => {
    const said = SPECS.filter((spec) => !(nameOf(spec) in guarded));
    const wrong = said.filter((spec) => {
      const demands = USER[nameOf(spec)];
      const callers = demands === undefined ? "ANYBODY" : "USER";
      const needsStepUp = demands?.includes("step-up") ?? false;
      return spec.callers !== callers || spec.permission !== null || (spec.needsStepUp ?? false) !== needsStepUp;
    });
    expect(wrong.map(nameOf)).toEqual([]);
  });
});

describe.each(Object.entries(KEY_OR_MEMBER))("%s", (name, { permission, demands }) => {
  const specOf = () => specNamed(name);
  const isGrantable = SECRET_KEY_PERMISSIONS.map(keyPermissionName).includes(permission);
  /** Past the door; what only a person may hold is refused behind it. */
  const expectLetIn = (answers: readonly Answer[]) => {
    const refused = answers.filter(({ status }) => status === 401 || status === 403);
    if (isGrantable) expect(refused).toEqual([]);
    else expect(refused.map(({ json }) => json?.code)).toEqual(answers.map(() => "PERMISSION_DENIED"));
  };
  const refuse = async (ask: Ask, status: number, code: string, merchantId: string = keys.merchantId) => {
    const answers = await knock(specOf(), { merchantId }, ask);
    const told = answers.map((answer) => expectRefusal(answer, status, code));
    // Whatever was wrong with the body, the answer is the same.
    expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
    return told[0];
  };

  it("is closed to whoever has no good key, with one and the same 401", async () => {
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
    const told = await Promise.all(bad.map((key) => refuse({ key }, 401, "UNAUTHORIZED")));
    expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
    // The path's merchant makes no difference.
    expect(await refuse({ key: unknown }, 401, "UNAUTHORIZED", NOWHERE)).toEqual(told[0]);
  });

  it("is closed to another merchant's key, alike whether the merchant in the path exists or not", async () => {
    const existing = await refuse({ key: keys.foreign }, 403, "MERCHANT_MISMATCH");
    for (const path of [NOWHERE, "mer_1", "x", "%00", encodeURIComponent("' OR 1=1 --")]) {
      expect(await refuse({ key: keys.foreign }, 403, "MERCHANT_MISMATCH", path)).toEqual(existing);
    }
    await refuse({ key: keyFor(keys.onlyWith, permission) }, 403, "MERCHANT_MISMATCH", keys.otherMerchantId);
  });

  it("is closed to a key that holds everything but its permission, and names what is missing", async () => {
    const told = await refuse({ key: keyFor(keys.allWithout, permission) }, 403, "PERMISSION_DENIED");
    expect(told).toMatchObject({ permission, error: "Forbidden" });
    await refuse({ key: keys.empty }, 403, "PERMISSION_DENIED");
  });

  it("is open to a key that holds its permission and nothing else, unless only a person may hold it", async () => {
    if (!isGrantable) {
      await refuse({ key: keyFor(keys.onlyWith, permission) }, 403, "PERMISSION_DENIED");
      return;
    }
    const answers = await knock(specOf(), { merchantId: keys.merchantId }, { key: keyFor(keys.onlyWith, permission) });
    for (const answer of answers) {
      expectHeaders(answer);
      expect([200, 201, 400, 404, 413, 415, 422]).toContain(answer.status);
    }
  });

  it("is closed to a key from where it may not be used, and open to it from elsewhere", async () => {
    const told = await refuse({ key: keys.elsewhere, headers: { "cf-connecting-ip": HERE } }, 403, "IP_NOT_ALLOWED");
    expect(JSON.stringify(told)).not.toContain(ELSEWHERE);
    await refuse({ key: keys.elsewhere }, 403, "IP_NOT_ALLOWED");
    for (const ip of [ELSEWHERE, "2001:db8::1", `::ffff:${ELSEWHERE}`]) {
      const answers = await knock(
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
    it("is open to a public key that holds its permission", async () => {
      const answers = await knock(specOf(), { merchantId: keys.merchantId }, { key: keys.publicFull });
      expect(answers.filter(({ status }) => status === 401 || status === 403)).toEqual([]);
    });

    it("is closed to a public key without its permission", async () => {
      await refuse({ key: keys.publicEmpty }, 403, "PERMISSION_DENIED");
    });

    it("may be read by a page anywhere, refusals too, and never with credentials", async () => {
      const answers = await Promise.all([
        knock(
          specOf(),
          { merchantId: keys.merchantId },
          { key: keys.publicFull, headers: { origin: "https://shop.example" } },
        ),
        knock(specOf(), { merchantId: keys.merchantId }, { headers: { origin: "https://shop.example" } }),
      ]);
      for (const { headers } of answers.flat()) {
        expect(headers.get("access-control-allow-origin")).toBe("*");
        expect(headers.get("access-control-allow-credentials")).toBeNull();
        expect(headers.get("access-control-expose-headers")?.split(", ")).toContain("retry-after");
      }
    });
  } else {
    it("is closed to a public key, whatever it holds", async () => {
      const told = await refuse({ key: keys.publicFull }, 403, "PUBLIC_KEY_FORBIDDEN");
      expect(await refuse({ key: keys.publicGreedy }, 403, "PUBLIC_KEY_FORBIDDEN")).toEqual(told);
      expect(await refuse({ key: keys.publicEmpty }, 403, "PUBLIC_KEY_FORBIDDEN")).toEqual(told);
    });

    it("may not be read by a page of another origin", async () => {
      const answers = await knock(
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

  it("looks at the key alone when a session cookie comes with it", async () => {
    const headers = { cookie: "__Host-session=anything" };
    await refuse({ headers }, 401, "UNAUTHORIZED");
    const answers = await knock(
      specOf(),
      { merchantId: keys.merchantId },
      { key: keyFor(keys.onlyWith, permission), headers },
    );
    expectLetIn(answers);
  });
});

describe.each(Object.keys(MEMBER_ONLY))("%s", (name) => {
  it("is closed to any good key, whatever it holds, and to a bad one as everywhere", async () => {
    const refuseKey = async (key: string | undefined, status: number, code: string) => {
      for (const answer of await knock(specNamed(name), { merchantId: keys.merchantId }, { key }))
        expectRefusal(answer, status, code);
    };
    for (const key of [...keys.onlyWith.values()].slice(0, 2)) await refuseKey(key, 403, "SESSION_REQUIRED");
    await refuseKey(keys.publicFull, 403, "SESSION_REQUIRED");
    await refuseKey(keys.publicGreedy, 403, "SESSION_REQUIRED");
    await refuseKey(keys.foreign, 403, "MERCHANT_MISMATCH");
    for (const key of [undefined, "letmein", keys.expired, keys.revoked]) await refuseKey(key, 401, "UNAUTHORIZED");
  });
});
