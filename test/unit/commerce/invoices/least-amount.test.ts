// A price may be below the smallest amount that nodes of its coin relay. The invoice then asks for the smallest amount that nodes relay, and shows
// that amount everywhere.
import fc from "fast-check";
import { expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { saltCapacity, saltedUnits } from "../../../../src/commerce/amounts/direct-amount.ts";
import { quoteMethod } from "../../../../src/commerce/payment-methods/payment-method.ts";
import { restUnits } from "../../../../src/commerce/payment-methods/rest.ts";
import { dustLimitUnits } from "../../../../src/commerce/payments/dust.ts";
import { formatUnits } from "../../../../src/lib/money.ts";
import { fixedRateTable } from "../../../../src/rates/fixed-rates.ts";
import { NOW, viewFacts } from "../../../support/checkout-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const pairs = NETWORKS.flatMap((network) => network.assets.map((asset) => ({ network, asset })));
const walletTypes = ["DIRECT_WALLET", "XPUB_WALLET"] as const;
const prices = fc.record({
  pair: fc.constantFrom(...pairs),
  currency: fc.constantFrom("USD", "JPY", "BTC", "LTC"),
  walletType: fc.constantFrom(...walletTypes),
  amountMicros: fc.oneof(fc.bigInt(1n, 10_000n), fc.bigInt(1n, 10n ** 12n)),
});

it("every amount requested for a price reaches the dust limit, so that nodes relay it, and is shown unchanged as the amount due", () => {
  fc.assert(
    fc.property(prices, fc.nat(), ({ pair: { network, asset }, currency, walletType, amountMicros }, choice) => {
      const invoice = { ...viewFacts().file.invoice, amountMicros, currency };
      const wallet = { walletType, network: network.name, cryptocurrency: asset.code };
      const quote = quoteMethod({ invoice, wallet, table: fixedRateTable(NOW), nowMs: NOW });
      if (!quote.ok || quote.value.amountUnits === null) throw new Error("no quote");
      const price = quote.value.amountUnits;
      const isShared = walletType === "DIRECT_WALLET";
      const units = isShared ? saltedUnits(price, asset, choice % saltCapacity(price, asset)) : price;
      const limit = dustLimitUnits(network, asset.code);
      expect(units).toBeGreaterThanOrEqual(limit);
      const changes = { walletType, amountUnits: units, quoteForMicros: amountMicros, remainderUnits: null };
      const active = [{ cryptocurrency: asset.code, network: network.name, changes }];
      const [body] = viewFacts({ invoice: { amountMicros, currency }, active }).methods;
      const shown = formatUnits(units, asset.decimals);
      expect(body).toMatchObject({ amount: shown, amountDue: shown });
    }),
    { numRuns: RUNS },
  );
});

it("every amount requested for a remainder at a shared address reaches the dust limit, so that nodes relay it", () => {
  const parts = fc.record({ of: prices, share: fc.nat({ max: 999_999 }), choice: fc.nat() });
  fc.assert(
    fc.property(parts, ({ of: { pair, amountMicros, currency }, share, choice }) => {
      const { network, asset } = pair;
      const invoice = { amountMicros, currency, underpaidToleranceMicros: 0n };
      const wallet = { walletType: "DIRECT_WALLET", network: network.name, cryptocurrency: asset.code } as const;
      const quote = quoteMethod({ invoice, wallet, table: fixedRateTable(NOW), nowMs: NOW });
      if (!quote.ok) throw new Error("no quote");
      const method = { ...wallet, amountUnits: quote.value.amountUnits, quoteForMicros: amountMicros };
      const rest = restUnits(method, invoice, (amountMicros * BigInt(share)) / 1_000_000n);
      if (rest === null) return;
      const units = saltedUnits(rest, asset, choice % saltCapacity(rest, asset));
      expect(units).toBeGreaterThanOrEqual(dustLimitUnits(network, asset.code));
    }),
    { numRuns: RUNS },
  );
});
