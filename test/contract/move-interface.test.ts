// `npm run move -- interface`: from one merchant of the service to another, and from an older server of the interface.
import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { startBrokenLine } from "../support/broken-line.ts";
import { btcpayAccount } from "../support/btcpay-accounts.ts";
import { type Listening, listen } from "../support/listen.ts";
import { type Api, expectOk, service } from "./client.ts";
import { evmAddress } from "./key-material.ts";
import { newMerchant, runMove, type Source, stateOf } from "./movers.ts";

const ADDRESS = evmAddress();
const KEY = btcpayAccount("BTC", "legacy", 26).scheme.replace(/-.*/, "");
const FRESH = btcpayAccount("BTC", "legacy", 27).scheme.replace(/-.*/, "");
const HOOK = { url: "http://127.0.0.1:4242/old", events: ["invoice.paid"] };

const open: Listening[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** A merchant with data of every kind that is moved. */
async function oldShop(): Promise<Api> {
  const shop = await newMerchant();
  const pair = { cryptocurrency: "USDT", network: "ETH" };
  expectOk(
    await shop.post("/wallets", { walletType: "DIRECT_WALLET", ...pair, address: ADDRESS, requiredConfirmations: 5 }),
    201,
  );
  const xpub = { walletType: "XPUB_WALLET", xpub: KEY, derivationPath: "m/44'/0'/26'" };
  expectOk(await shop.post("/wallets", { ...xpub, cryptocurrency: "BTC", network: "BTC" }), 201);
  expectOk(await shop.post("/webhooks", HOOK), 201);
  for (const name of ["Tea", "Tea", "Cake"]) expectOk(await shop.post("/products", { name, price: 4.5 }), 201);
  for (const name of ["Ann", "Ben"]) {
    const { status } = await shop.post("/customers", { name, email: `${name}@example.com` });
    expect([200, 201]).toContain(status);
  }
  return shop;
}

function sourceOf(shop: Api, from = service.baseUrl): Source {
  return { args: ["interface", "--from", from, "--from-merchant", shop.merchantId], key: shop.key };
}

const MOVED = {
  wallets: [
    {
      network: "ETH",
      key: expect.stringMatching(new RegExp(ADDRESS, "i")),
      isEnabled: false,
      requiredConfirmations: 5,
    },
    { network: "BTC", key: KEY, isEnabled: false, requiredConfirmations: 1 },
  ],
  webhooks: [{ ...HOOK, isActive: false }],
  products: ["Cake", "Tea", "Tea"],
  customers: ["Ann@example.com Ann", "Ben@example.com Ben"],
};

describe("from another server with the same interface", () => {
  it("the plan writes nothing, answering yes writes everything, and a second run finds nothing left to write", async () => {
    const [source, merchant] = [sourceOf(await oldShop()), await newMerchant()];
    const nothing = await stateOf(merchant);
    const plan = await runMove(source, merchant, { args: ["--plan"] });
    expect(plan.status).toBe(0);
    expect(plan.printed).toMatch(/one payment may count at both.*registered disabled/s);
    expect(await stateOf(merchant)).toEqual(nothing);
    const first = await runMove(source, merchant, { answers: ["yes"] });
    expect([first.status, first.printed]).toEqual([0, expect.stringContaining("8 made.")]);
    expect(await stateOf(merchant)).toMatchObject(MOVED);
    const second = await runMove(source, merchant, { args: ["--yes"] });
    expect([second.status, second.printed]).toEqual([0, expect.stringContaining("There is nothing to write.")]);
    expect(await stateOf(merchant)).toMatchObject(MOVED);
  });

  it.each(["before", "after"] as const)(
    "an interruption at any write, %s the server receives it, is repaired",
    async (when) => {
      const [source, merchant] = [sourceOf(await oldShop()), await newMerchant()];
      const line = await startBrokenLine(service.baseUrl);
      // Each run is interrupted at its second write, so each run completes one or two more steps.
      for (let run = 0; run < 8; run += 1) {
        line.breakAt(1, when);
        await runMove(source, merchant, { args: ["--yes"], to: line.origin });
      }
      line.breakAt(undefined, when);
      const again = await runMove(source, merchant, { args: ["--yes"], to: line.origin });
      await line.close();
      expect(again.status, again.printed).toBe(0);
      expect(line.writes).toHaveLength(8);
      expect(await stateOf(merchant)).toMatchObject(MOVED);
    },
  );
});

describe("from an older server", () => {
  /** An older server: lists are paged by number, wallets have no nextIndex, and there are no webhooks. */
  async function olderServer(lastUsedIndex: number): Promise<Source> {
    const products = ["Tea", "Cake", "Pie"].map((name) => ({ name, price: "1.000000", currency: "USD", image: null }));
    const xpub = {
      walletType: "XPUB_WALLET",
      cryptocurrency: "BTC",
      network: "BTC",
      xpub: KEY,
      derivationPath: "m/44'/0'/26'",
    };
    const server = createServer(({ url = "", headers }, response) => {
      const { pathname, searchParams } = new URL(url, "http://localhost");
      const page = Number(searchParams.get("page") ?? 1);
      const answers: Readonly<Record<string, unknown>> = {
        wallets: [{ ...xpub, isEnabled: true, lastUsedIndex }],
        products: { data: products.slice(page - 1, page), pagination: { page, limit: 1, total: 3, lastPage: 3 } },
        customers: { data: [], pagination: { page: 1, limit: 100, total: 0, lastPage: 1 } },
      };
      const body = answers[pathname.replace("/api/v1/merchants/merchant/old_1/", "")];
      const status = headers["x-api-key"] === "sk_old_key" ? 200 : 401;
      response.writeHead(body === undefined ? 404 : status, { "content-type": "application/json" });
      response.end(JSON.stringify(body ?? {}));
    });
    const listening = await listen(server);
    open.push(listening);
    return { args: ["interface", "--from", listening.origin, "--from-merchant", "old_1"], key: "sk_old_key" };
  }

  it("every page of each list is moved, and whatever the server does not offer is reported", async () => {
    const merchant = await newMerchant();
    const { status, printed } = await runMove(await olderServer(0), merchant, { args: ["--unused", "BTC", "--yes"] });
    expect([status, printed]).toEqual([0, expect.stringContaining("webhooks: the server does not show them")]);
    expect(await stateOf(merchant)).toMatchObject({ products: ["Cake", "Pie", "Tea"], wallets: [{ key: KEY }] });
  });

  it("a key with addresses in use does not move; the key of a new account does", async () => {
    const merchant = await newMerchant();
    const source = await olderServer(7);
    const refused = await runMove(source, merchant, { args: ["--unused", "BTC", "--yes"] });
    expect(refused.printed).toMatch(/has given addresses of this key.*two customers/);
    expect(await stateOf(merchant)).toMatchObject({ wallets: [] });
    expect(await runMove(source, merchant, { args: ["--key", `BTC=${FRESH}`, "--yes"] })).toMatchObject({ status: 0 });
    expect(await stateOf(merchant)).toMatchObject({ wallets: [{ key: FRESH, isEnabled: true }] });
  });

  it("a wrong key ends the move", async () => {
    const source = { ...(await olderServer(0)), key: "sk_wrong" };
    const { status, printed } = await runMove(source, await newMerchant(), { args: ["--yes"] });
    expect([status, printed]).toEqual([1, expect.stringContaining("the key was refused (401)")]);
  });
});
