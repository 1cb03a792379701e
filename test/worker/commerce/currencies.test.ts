// Invoices in a currency that no central bank issues, priced from what the rate sources currently report.
import { beforeAll, describe, expect, it } from "vitest";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import type { RateTable } from "../../../src/rates/quote.ts";
import { seedKey, seedMerchant, sendWith } from "../../support/access.ts";
import { directWallet } from "../../support/wallet-bodies.ts";

/** All fixed rates except for `currency`, which the table only lists in `unpriced`. */
function without(currency: string, unpriced: Pick<RateTable, "unpriced">): RateTable {
  const { assets, fiat } = fixedRateTable(Date.now());
  return { assets, fiat: Object.fromEntries(Object.entries(fiat).filter(([code]) => code !== currency)), ...unpriced };
}

describe("an invoice in a currency without a central bank rate", () => {
  let path = "";
  let key = "";
  let asked = 0;
  beforeAll(async () => {
    const merchantId = await seedMerchant();
    path = `/api/v1/merchants/merchant/${merchantId}`;
    key = await seedKey(merchantId);
    expect((await post("/wallets", directWallet(), without("", {}))).status).toBe(201);
  });

  /** A new binding for each request, because an isolate caches a binding's table for a few seconds. */
  function post(rest: string, body: object, table: RateTable) {
    const book = {
      table: async () => {
        asked += 1;
        return table;
      },
    };
    const bindings = { RATE_SOURCE: "coinbase,kraken", RATE_BOOK: { getByName: () => book } };
    return sendWith(bindings as unknown as Partial<Env>, `${path}${rest}`, { method: "POST", key, body });
  }
  const create = (currency: string, table: RateTable) =>
    post("/invoices", { name: "Order", rawAmount: 1.25, currency }, table);

  it.each([
    [
      "LBP",
      "SOURCES_APART",
      "Rates of LBP are more than 3 % apart, as official and street rates are; use another currency",
    ],
    ["KWD", "ONE_SOURCE", "Fewer than two sources price KWD at the moment; use another currency"],
  ] as const)(
    "(%s) is refused with a message if the table has no rate because of %s",
    async (currency, reason, message) => {
      const { status, json } = await create(currency, without(currency, { unpriced: { [currency]: reason } }));
      expect([status, json]).toMatchObject([422, { statusCode: 422, code: "CURRENCY_NOT_PRICED", message }]);
    },
  );

  it("is created at its rate if two sources agree; without any source it is created without a rate, as in any other currency", async () => {
    const priced = await create("KWD", without("", { unpriced: { LBP: "ONE_SOURCE" } }));
    expect(priced).toMatchObject({
      status: 201,
      json: { rawAmount: "1.250000", paymentMethods: [{ status: "ACTIVE" }] },
    });
    for (const currency of ["KWD", "EUR"]) {
      const unheard = await create(currency, without(currency, {}));
      const paymentMethods = [{ status: "UNAVAILABLE", reason: "RATE_UNAVAILABLE" }];
      expect(unheard).toMatchObject({ status: 201, json: { paymentMethods } });
    }
  });

  it("requests rates even without payment methods, unlike an invoice in a central bank's currency or in a coin", async () => {
    const order = (currency: string) => ({ name: "Order", rawAmount: 2, currency, paymentMethods: [] });
    const asks = async (currency: string) => {
      asked = 0;
      expect((await post("/invoices", order(currency), without("", {}))).status).toBe(201);
      return asked;
    };
    expect([await asks("KWD"), await asks("EUR"), await asks("USD"), await asks("BTC")]).toEqual([1, 0, 0, 0]);
  });

  it("can be for a product, and is also refused if the currency has no rate", async () => {
    const table = without("LBP", { unpriced: { LBP: "SOURCES_APART" } });
    const { status, json } = await post("/products", { name: "Tea", price: 900_000, currency: "LBP" }, table);
    expect(status).toBe(201);
    const order = { productId: json?.id };
    expect(await post("/invoices", order, table)).toMatchObject({ json: { code: "CURRENCY_NOT_PRICED" } });
    expect((await post("/invoices", order, without("", {}))).status).toBe(201);
  });
});
