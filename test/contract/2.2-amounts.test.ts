// Interface 2.2 and decisions 4 "rawAmount", "currency": rawAmount is the only money in the contract that is a JSON number. Texts are sent unchanged,
// because a serializer would write most of them differently.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, createInvoice, expectOk, expectRefusal, removeWallets, shop } from "./client.ts";
import type { Invoice } from "./shapes.ts";

beforeAll(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

function createFor(rawAmount: string, currency = "USD"): Promise<Answer<Invoice>> {
  return shop.postRaw("/invoices", `{"name":"Order","currency":"${currency}","rawAmount":${rawAmount}}`);
}

describe("rawAmount is rounded half up at the sixth digit of its shortest decimal text", () => {
  test.each([
    ["0", "0.000000"],
    ["-0", "0.000000"],
    ["0.0", "0.000000"],
    ["1e-400", "0.000000"],
    ["0.0000005", "0.000001"],
    ["5e-7", "0.000001"],
    ["0.000001", "0.000001"],
    ["0.0000015", "0.000002"],
    ["0.30000000000000004", "0.300000"],
    ["0.1234564", "0.123456"],
    ["0.1234565", "0.123457"],
    ["1.0000005", "1.000001"],
    ["1.0000014999", "1.000001"],
    ["1.005", "1.005000"],
    ["2.675", "2.675000"],
    ["10", "10.000000"],
    ["10.0", "10.000000"],
    ["1e1", "10.000000"],
    ["1E+1", "10.000000"],
    ["0.1e2", "10.000000"],
    ["19.99", "19.990000"],
    ["4503.1234565", "4503.123457"],
    ["999999.9999994", "999999.999999"],
    ["999999.9999995", "1000000.000000"],
    ["1000000", "1000000.000000"],
    ["1000000.000000", "1000000.000000"],
    ["1e6", "1000000.000000"],
    // The nearest double is exactly 1000000: a JSON parser drops the digits beyond it.
    ["1000000.00000000001", "1000000.000000"],
  ])("%s becomes %s", async (written, kept) => {
    const invoice = expectOk(await createFor(written), 201);
    expect(invoice).toMatchObject({ rawAmount: kept, endAmount: kept });
    expect(expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200).rawAmount).toBe(kept);
  });
});

describe("rawAmount is refused if it is not a JSON number, is outside 0 to 1000000 before rounding, or is positive but rounds to 0", () => {
  test.each([
    "1e-7",
    "4e-7",
    "0.0000004999999",
    "-0.000001",
    "-1e-7",
    "-1",
    "1000000.000001",
    "1000000.0000001",
    "1000001",
    "1e7",
    "1e400",
    "-1e400",
    "123456789012345678901234567890",
    '"10"',
    '""',
    "null",
    "true",
    "[10]",
    "{}",
    "NaN",
    "Infinity",
    "010",
    "1.",
    ".5",
    "+1",
    "0x10",
    "1_000",
    "10,0",
    "10n",
    "",
  ])("%s", async (written) => {
    expectRefusal(await createFor(written), 400);
  });

  test("a missing rawAmount", async () => {
    const refusal = expectRefusal(await shop.post("/invoices", { name: "Order" }), 400);
    expect(refusal.details?.map((detail) => detail.path)).toContain("rawAmount");
  });
});

describe("currency", () => {
  const FIAT =
    `USD EUR GBP CAD AUD JPY CHF CNY HKD SGD NZD SEK NOK DKK PLN CZK HUF RON TRY ILS ZAR BRL MXN INR IDR MYR PHP
    THB KRW ISK`.split(/\s+/);
  const CRYPTO = [
    "BTC",
    "LTC",
    "ETH",
    "POL",
    "BNB",
    "CRO",
    "TRX",
    "USDT",
    "USDC",
    "DAI",
    "EURC",
    "WBTC",
    "PYUSD",
    "UNI",
    "SHIB",
  ];

  test.each([undefined, null])("defaults to USD when it is %s", async (currency) => {
    expect((await createInvoice(shop, { currency })).currency).toBe("USD");
  });

  test.each([...FIAT, ...CRYPTO])("%s is accepted", async (currency) => {
    expect(expectOk(await createFor("12.5", currency), 201)).toMatchObject({ currency, rawAmount: "12.500000" });
  });

  test.each(["XYZ", "US", "DOLLAR", "BTC_TESTNET"])(
    "%s is refused, and the refusal lists the known currencies",
    async (code) => {
      const answer = await createFor("10", code);
      expectRefusal(answer, 400);
      for (const known of ["USD", "ISK", "BTC", "USDT"]) expect(answer.text).toContain(known);
    },
  );

  test.each([7, ["USD"]])("%j is refused, because it is not text", async (currency) => {
    expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: 10, currency }), 400);
  });
});
