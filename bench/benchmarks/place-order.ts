// An order placed as a shop plugin for BTCPay Server does, through the same routes and with the same metadata, compared with a create through our own
// API.
import type { Context } from "../context.ts";
import { interleave, target } from "../interleave.ts";
import type { Outcome } from "../report.ts";
import { createTarget, merchantWithTwoWallets } from "./create-targets.ts";
import { cpu, latency, throughput } from "./figures.ts";

/** The fields that WooCommerce's plugin sends about an order. */
const ORDER = {
  amount: "25.50",
  currency: "USD",
  metadata: {
    orderId: "1001",
    buyerName: "Ada Lovelace",
    buyerEmail: "ada@example.com",
    posData: '{"WooCommerce":{"Order ID":1001}}',
    taxIncluded: 4.07,
  },
  checkout: { redirectURL: "https://shop.example.com/thanks", speedPolicy: "MediumSpeed" },
};

export async function placeOrder(context: Context): Promise<Outcome> {
  const product = await context.product();
  const merchant = await merchantWithTwoWallets(product);
  const shape = {
    method: "POST",
    path: `/api/v1/stores/${merchant.merchantId}/invoices`,
    headers: { authorization: `token ${merchant.headers["x-api-key"]}` },
    body: ORDER,
  } as const;
  // Plugins treat any success other than 200 as a failure.
  const through = target("order of a plugin", product.served, shape, { expectStatus: 200 });
  const figures = [];
  for (const connections of context.options.connections ?? [1, 16]) {
    const window = { ...context.plan, connections };
    const [ours, theirs] = await interleave(
      context,
      [through, createTarget("create", product, merchant)] as const,
      window,
    );
    const of = { what: `an order of a plugin, c = ${connections}`, ours, baseline: "a create of our own", theirs };
    figures.push(throughput({ ...of, target: { atLeast: 0.9 } }), latency(of), ...cpu(of));
  }
  return { figures };
}
