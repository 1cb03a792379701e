import { beforeAll, describe, expect, it } from "vitest";
import { newApiKey } from "../../src/auth/api-key.ts";
import { createApp, SPECS } from "../../src/http/app.ts";
import type { RouteSpec } from "../../src/http/route.ts";
import type { MerchantId } from "../../src/lib/ids.ts";
import { keyPermissionName, PERMISSIONS, SECRET_KEY_PERMISSIONS } from "../../src/teams/permissions.ts";
import { type Answer, type Ask, expectHeaders, expectRefusal, seedKey, seedMerchant, send } from "../support/access.ts";

const MERCHANT = "/api/v1/merchants/merchant/:merchantId";

/** By hand from decisions 7 "Which route needs what": the permission in its form on a key, and whether a public key may call at all. */
const NEEDS: Readonly<Record<string, readonly [permission: string, isForPublicKeys?: "public"]>> = {
  [`POST ${MERCHANT}/wallets`]: ["WALLET_CREATE"],
  [`GET ${MERCHANT}/wallets`]: ["WALLET_VIEW"],
  [`GET ${MERCHANT}/wallets/:walletId`]: ["WALLET_VIEW"],
  [`PATCH ${MERCHANT}/wallets/:walletId`]: ["WALLET_UPDATE"],
  [`DELETE ${MERCHANT}/wallets/:walletId`]: ["WALLET_DELETE"],
  [`GET ${MERCHANT}/wallets/:walletId/addresses`]: ["WALLET_VIEW"],
  [`GET ${MERCHANT}/wallets/:walletId/recovery`]: ["WALLET_VIEW"],
  [`POST ${MERCHANT}/invoices`]: ["INVOICE_CREATE", "public"],
  [`GET ${MERCHANT}/invoices`]: ["INVOICE_VIEW"],
  [`GET ${MERCHANT}/invoices/:invoiceId`]: ["INVOICE_VIEW", "public"],
  [`PATCH ${MERCHANT}/invoices/:invoiceId`]: ["INVOICE_UPDATE"],
  [`POST ${MERCHANT}/invoices/:invoiceId/cancel`]: ["INVOICE_CANCEL"],
  [`GET ${MERCHANT}/invoices/:invoiceId/payment-methods`]: ["INVOICE_VIEW", "public"],
  [`POST ${MERCHANT}/invoices/:invoiceId/payment-methods`]: ["INVOICE_CREATE", "public"],
  [`GET ${MERCHANT}/invoices/:invoiceId/payments`]: ["PAYMENT_VIEW"],
};

/** Routes that anybody may call. */
const OPEN = ["GET /healthz", "GET /openapi.json", "GET /docs"];

const HOUR_MS = 3_600_000;
const UNKNOWN_ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const NOWHERE = `mer_${UNKNOWN_ULID}`;
const ELSEWHERE = "203.0.113.7";
const HERE = "198.51.100.23";

const nameOf = (spec: RouteSpec) => `${spec.method} ${spec.path}`;
const guarded = SPECS.filter((spec) => !OPEN.includes(nameOf(spec)));

function pathOf(spec: RouteSpec, merchantId: string): string {
  return spec.path
    .replace(":merchantId", merchantId)
    .replace(":walletId", `wal_${UNKNOWN_ULID}`)
    .replace(":invoiceId", `inv_${UNKNOWN_ULID}`);
}

/** Every way in which a body can be wrong: none of them may be told to whom the door is closed. */
const WRONG_BODIES: readonly Pick<Ask, "body" | "headers">[] = [
  { body: {} },
  { body: "{" },
  { body: "x", headers: { "content-type": "text/plain" } },
  { body: `"${"x".repeat(65_536)}"` },
];

function asksOf(spec: RouteSpec): readonly Ask[] {
  const { method } = spec;
  return method === "GET" ? [{ method }] : WRONG_BODIES.map((wrong) => ({ method, ...wrong }));
}

/** All answers to one principal on one route. */
async function knock(spec: RouteSpec, merchantId: string, ask: Ask): Promise<readonly Answer[]> {
  return Promise.all(
    asksOf(spec).map((each) =>
      send(pathOf(spec, merchantId), { ...each, ...ask, headers: { ...each.headers, ...ask.headers } }),
    ),
  );
}

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
  const wanted = [...new Set(Object.values(NEEDS).map(([permission]) => permission))];
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
  it("are exactly those whose needs are written down by hand", () => {
    expect(guarded.map(nameOf).sort()).toEqual(Object.keys(NEEDS).sort());
    expect(
      SPECS.map(nameOf)
        .filter((name) => OPEN.includes(name))
        .sort(),
    ).toEqual([...OPEN].sort());
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
    const said = guarded.map((spec) => [
      nameOf(spec),
      spec.permission?.replace(":", "_").toUpperCase(),
      spec.isForPublicKeys,
    ]);
    expect(said).toEqual(
      guarded.map((spec) => [nameOf(spec), NEEDS[nameOf(spec)]?.[0], NEEDS[nameOf(spec)]?.[1] === "public"]),
    );
  });

  it("need no more than a secret key may hold", () => {
    const grantable = SECRET_KEY_PERMISSIONS.map(keyPermissionName);
    expect(Object.values(NEEDS).filter(([permission]) => !grantable.includes(permission))).toEqual([]);
  });
});

describe.each(Object.entries(NEEDS))("%s", (name, [permission, isPublic]) => {
  const specOf = () => {
    const spec = guarded.find((each) => nameOf(each) === name);
    if (spec === undefined) throw new Error(`${name} is not mounted`);
    return spec;
  };
  const refuse = async (ask: Ask, status: number, code: string, merchantId: string = keys.merchantId) => {
    const answers = await knock(specOf(), merchantId, ask);
    const told = answers.map((answer) => expectRefusal(answer, status, code));
    // Whatever was wrong with the body, the answer is the same.
    expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
    return told[0];
  };

  it("is closed to whoever has no good key, with one and the same 401", async () => {
    const good = keyFor(keys.onlyWith, permission);
    const wrongChecksum = good.slice(0, -1) + (good.endsWith("0") ? "1" : "0");
    const unknown = newApiKey("SECRET", (count) => crypto.getRandomValues(new Uint8Array(count))).secret;
    const bad = [
      undefined,
      "",
      "letmein",
      wrongChecksum,
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

  it("is open to a key that holds its permission and nothing else", async () => {
    const answers = await knock(specOf(), keys.merchantId, { key: keyFor(keys.onlyWith, permission) });
    for (const answer of answers) {
      expectHeaders(answer);
      expect([200, 400, 404, 413, 415, 422]).toContain(answer.status);
    }
  });

  it("is closed to a key from where it may not be used, and open to it from elsewhere", async () => {
    const told = await refuse({ key: keys.elsewhere, headers: { "cf-connecting-ip": HERE } }, 403, "IP_NOT_ALLOWED");
    expect(JSON.stringify(told)).not.toContain(ELSEWHERE);
    await refuse({ key: keys.elsewhere }, 403, "IP_NOT_ALLOWED");
    for (const ip of [ELSEWHERE, "2001:db8::1", `::ffff:${ELSEWHERE}`]) {
      const answers = await knock(specOf(), keys.merchantId, {
        key: keys.elsewhere,
        headers: { "cf-connecting-ip": ip },
      });
      expect(answers.filter(({ status }) => status === 401 || status === 403)).toEqual([]);
    }
  });

  if (isPublic === "public") {
    it("is open to a public key that holds its permission", async () => {
      const answers = await knock(specOf(), keys.merchantId, { key: keys.publicFull });
      expect(answers.filter(({ status }) => status === 401 || status === 403)).toEqual([]);
    });

    it("is closed to a public key without its permission", async () => {
      await refuse({ key: keys.publicEmpty }, 403, "PERMISSION_DENIED");
    });

    it("may be read by a page anywhere, refusals too, and never with credentials", async () => {
      const answers = await Promise.all([
        knock(specOf(), keys.merchantId, { key: keys.publicFull, headers: { origin: "https://shop.example" } }),
        knock(specOf(), keys.merchantId, { headers: { origin: "https://shop.example" } }),
      ]);
      for (const { headers } of answers.flat()) {
        expect(headers.get("access-control-allow-origin")).toBe("*");
        expect(headers.get("access-control-allow-credentials")).toBeNull();
      }
    });
  } else {
    it("is closed to a public key, whatever it holds", async () => {
      const told = await refuse({ key: keys.publicFull }, 403, "PUBLIC_KEY_FORBIDDEN");
      expect(await refuse({ key: keys.publicGreedy }, 403, "PUBLIC_KEY_FORBIDDEN")).toEqual(told);
      expect(await refuse({ key: keys.publicEmpty }, 403, "PUBLIC_KEY_FORBIDDEN")).toEqual(told);
    });

    it("may not be read by a page of another origin", async () => {
      const answers = await knock(specOf(), keys.merchantId, {
        key: keyFor(keys.onlyWith, permission),
        headers: { origin: "https://shop.example" },
      });
      for (const { headers } of answers) {
        expect([...headers.keys()].filter((header) => header.startsWith("access-control-"))).toEqual([]);
      }
    });
  }

  it("looks at the key alone when a session cookie comes with it", async () => {
    const headers = { cookie: "__Host-session=anything" };
    await refuse({ headers }, 401, "UNAUTHORIZED");
    const answers = await knock(specOf(), keys.merchantId, { key: keyFor(keys.onlyWith, permission), headers });
    expect(answers.filter(({ status }) => status === 401 || status === 403)).toEqual([]);
  });
});

describe.each(OPEN)("%s", (name) => {
  it("is open to anybody, and a bad key does not close it", async () => {
    const path = name.replace("GET ", "");
    for (const key of [undefined, "letmein", keys.revoked]) {
      const answer = await send(path, { key });
      expect(answer.status).toBe(200);
      expectHeaders(answer);
    }
  });
});
