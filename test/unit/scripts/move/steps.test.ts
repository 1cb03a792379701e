import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type * as Api from "../../../../client/edgetill.ts";
import { idempotencyKeyOf, lineOf, NOTHING, permissionsOf, workOf } from "../../../../scripts/move/steps.ts";
import type { Wanted, WantedWallet } from "../../../../scripts/move/wanted.ts";

const WALLET: WantedWallet = {
  body: {
    walletType: "XPUB_WALLET",
    cryptocurrency: "BTC",
    network: "BTC",
    xpub: "zpub",
    derivationPath: "m/84'/0'/0'",
  },
  identity: "key 1",
  addresses: ["bc1q1"],
};
const EMPTY: Wanted = {
  title: "",
  wallets: [],
  webhooks: [],
  products: [],
  customers: [],
  settings: {},
  left: [],
  notes: [],
};
const present = (wallet: { identity: string | undefined; addresses?: readonly string[] }) => ({
  ...NOTHING,
  wallets: [{ id: "wal_1", pair: "BTC on BTC", addresses: ["bc1q1", "bc1q2"], ...wallet }],
});

function storedProduct(body: Api.CreateProductBody): Api.Product {
  const base = { description: null, currency: "USD", isActive: true, askForName: false, askForAddress: false } as const;
  const rest = {
    id: "prd_1",
    merchantId: "mer_1",
    image: null,
    signedImage: null,
    createdAt: "",
    updatedAt: "",
    deletedAt: null,
  };
  return { ...base, askForPhoneNumber: false, ...rest, checkoutUrl: "", name: body.name, price: body.price.toFixed(6) };
}

function productBody(name: string): Api.CreateProductBody {
  const flags = { isActive: true, askForName: false, askForAddress: false, askForPhoneNumber: false };
  return { name, description: null, price: 4.5, currency: "USD", ...flags };
}

describe("the plan of writes", () => {
  it("includes a wallet if its pair has no wallet yet", () => {
    expect(workOf({ ...EMPTY, wallets: [WALLET] }, NOTHING).steps).toMatchObject([{ kind: "wallet" }]);
  });

  it("omits a wallet that already exists, and a second wallet for the same pair", () => {
    const wanted = { ...EMPTY, wallets: [WALLET] };
    expect(workOf(wanted, present({ identity: "key 1" }))).toMatchObject({
      steps: [],
      there: [expect.any(String)],
      blocked: [],
    });
    const others = present({ identity: "key 1", addresses: ["bc1q3"] });
    expect(workOf(wanted, others)).toMatchObject({ steps: [], there: [], blocked: [expect.stringMatching(/other/)] });
    for (const identity of ["key 2", undefined])
      expect(workOf(wanted, present({ identity }))).toMatchObject({
        steps: [],
        there: [],
        blocked: [expect.any(String)],
      });
  });

  it("includes only the missing copies of identical products, each with its own idempotency key", () => {
    const names = fc.array(fc.constantFrom("Tea", "Cake"), { maxLength: 6 });
    fc.assert(
      fc.property(names, fc.nat(6), (wantedNames, count) => {
        const products = wantedNames.map(productBody);
        const stored = products.slice(0, count).map(storedProduct);
        const { steps } = workOf({ ...EMPTY, products }, { ...NOTHING, products: stored });
        expect(steps).toHaveLength(products.length - stored.length);
        expect(new Set(steps.map(idempotencyKeyOf)).size).toBe(steps.length);
        const whole = workOf({ ...EMPTY, products }, NOTHING).steps.map(idempotencyKeyOf);
        expect(whole).toEqual(expect.arrayContaining(steps.map(idempotencyKeyOf)));
      }),
    );
  });

  it("includes only the settings that differ, and never replaces an existing brand name", () => {
    const settings = { invoiceLifetimeSeconds: 900, underpaidTolerancePercent: 1, brandName: "Coffee" };
    const brand = { name: null as string | null, color: null, supportUrl: null, logo: null, logoUrl: null };
    const stored = { invoiceLifetimeSeconds: 3_600, underpaidTolerancePercent: 1, brand } as Api.Settings;
    const stepsAt = (changes: Partial<Api.Settings>) =>
      workOf({ ...EMPTY, settings }, { ...NOTHING, settings: { ...stored, ...changes } }).steps;
    expect(stepsAt({})).toEqual([
      { kind: "settings", body: { invoiceLifetimeSeconds: 900, brand: { name: "Coffee" } }, isWeaker: false },
    ]);
    expect(stepsAt({ invoiceLifetimeSeconds: 900, brand: { ...brand, name: "Other" } })).toEqual([]);
  });

  it("gives each write an idempotency key of at most 255 characters, and a printed line without control characters", () => {
    const [step] = workOf({ ...EMPTY, products: [productBody("Tea\n\u001b[2J")] }, NOTHING).steps;
    if (step === undefined) throw new Error("no step");
    expect(idempotencyKeyOf(step)).toMatch(/^move-[0-9a-f]{64}$/);
    expect(lineOf(step)).toBe("product Tea [2J: 4.5 USD");
    expect(permissionsOf(step)).toEqual(["product:create"]);
  });
});
