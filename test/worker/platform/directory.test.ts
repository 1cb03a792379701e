import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { placeName } from "../../../src/commerce/amounts/amount-place.ts";
import type { ObjectKind } from "../../../src/platform/directory/directory-entries.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant } from "../../support/worker-merchant.ts";

async function namesOf(kind: ObjectKind): Promise<readonly string[]> {
  const names: string[] = [];
  for (;;) {
    const page = await env.DIRECTORY.getByName(kind).list(names.at(-1) ?? "", 50);
    names.push(...page);
    if (page.length < 50) return names;
  }
}

it("the objects for a merchant, its extended key and its address are listed once they have allocated something", async () => {
  const shop = await freshMerchant();
  const direct = await expectStatus(shop.post("/wallets", directWallet()), 201);
  await expectStatus(shop.post("/wallets", xpubWallet()), 201);
  const place = placeName({ network: USDT.network, cryptocurrency: USDT.cryptocurrency, address: direct.address });
  expect(await namesOf("AMOUNTS")).not.toContain(place);
  await expectStatus(shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT, BTC] }), 201);
  const key = await env.DB.prepare("select key_hash from wallets where merchant_id = ? and key_hash is not null")
    .bind(shop.merchantId)
    .first<string>("key_hash");
  expect(await namesOf("MERCHANTS")).toContain(shop.merchantId);
  expect(await namesOf("ADDRESSES")).toContain(key);
  expect(await namesOf("AMOUNTS")).toContain(place);
});

it("a name that is entered twice is listed once, and pages continue after the last name", async () => {
  const directory = env.DIRECTORY.getByName("MERCHANTS");
  for (const name of ["~b", "~a", "~b", "~c"]) await directory.enter(name, Date.now());
  expect(await directory.list("~", 2)).toEqual(["~a", "~b"]);
  expect(await directory.list("~b", 2)).toEqual(["~c"]);
});
