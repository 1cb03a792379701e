// What a move does when its server misbehaves, and how it asks for keys that are not in the environment.
import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { move } from "../../scripts/move/run.ts";
import { startBrokenLine } from "../support/broken-line.ts";
import { btcpayAccount } from "../support/btcpay-accounts.ts";
import { type StandIn, type StandInStore, startBtcpay } from "../support/btcpay-stand-in.ts";
import { listen } from "../support/listen.ts";
import { expectOk, service } from "./client.ts";
import { MOVE_PERMISSIONS, newMerchant, runMove, type Source, stateOf } from "./movers.ts";
import type { Wallet } from "./shapes.ts";

const FRESH = `BTC=${btcpayAccount("BTC", "legacy", 28).scheme.replace(/-.*/, "")}`;
const STORE: StandInStore = {
  id: "TeaStore1",
  name: "Tea",
  methods: [{ code: "BTC", account: btcpayAccount("BTC", "segwit", 28) }],
};

const open: StandIn[] = [];
afterEach(async () => {
  for (const btcpay of open.splice(0)) await btcpay.close();
});

async function sourceOf(store: Partial<StandInStore> = {}): Promise<Source> {
  const btcpay = await startBtcpay({ version: 2, stores: [{ ...STORE, ...store }] });
  open.push(btcpay);
  return { args: ["btcpay", "--from", btcpay.origin, "--store", STORE.id, "--key", FRESH], key: btcpay.key };
}

describe("a target server that misbehaves", () => {
  it("by showing unexpected addresses for a new wallet makes the move disable that wallet", async () => {
    const merchant = await newMerchant();
    const line = await startBrokenLine(service.baseUrl);
    line.alter = (path, text) =>
      /\/addresses\?/.test(path) ? text.replaceAll(/"address":"1\w/g, '"address":"1x') : text;
    const { status, printed } = await runMove(await sourceOf(), merchant, { args: ["--yes"], to: line.origin });
    expect([status, printed]).toEqual([1, expect.stringMatching(/shows other addresses.*It is disabled: delete it/)]);
    const again = await runMove(await sourceOf(), merchant, { args: ["--yes"], to: line.origin });
    await line.close();
    expect([again.status, again.printed]).toEqual([1, expect.stringMatching(/Does not move:.*shows other addresses/s)]);
    expect(expectOk(await merchant.get<Wallet[]>("/wallets"), 200)).toMatchObject([{ isEnabled: false }]);
  });

  it("by refusing one webhook gets everything else anyway, and the run fails", async () => {
    const merchant = await newMerchant();
    const urls = ["http://shop.example.com/open", "http://127.0.0.1:4242/fine"];
    const webhooks = urls.map((url, index) => ({ id: `W${index}`, url, enabled: true }));
    const { status, printed } = await runMove(await sourceOf({ webhooks }), merchant, { args: ["--yes"] });
    expect([status, printed]).toEqual([1, expect.stringMatching(/refused webhook \S+open.*3 made, 1 refused/s)]);
    expect(await stateOf(merchant)).toMatchObject({ webhooks: [{ url: urls[1] }], wallets: [{ network: "BTC" }] });
  });

  it("by returning a cached response for a wallet deleted meanwhile is detected", async () => {
    const merchant = await newMerchant([...MOVE_PERMISSIONS, "WALLET_DELETE"]);
    const source = await sourceOf();
    expect(await runMove(source, merchant, { args: ["--yes"] })).toMatchObject({ status: 0 });
    const [wallet] = expectOk(await merchant.get<Wallet[]>("/wallets"), 200);
    expectOk(await merchant.delete(`/wallets/${wallet?.id}`), 200);
    const { status, printed } = await runMove(source, merchant, { args: ["--yes"] });
    expect([status, printed]).toEqual([1, expect.stringMatching(/deleted since.*24 hours/)]);
    expect(expectOk(await merchant.get<Wallet[]>("/wallets"), 200)).toEqual([]);
  });

  it("by returning a cached response for a webhook deleted meanwhile is detected", async () => {
    const merchant = await newMerchant([...MOVE_PERMISSIONS, "WEBHOOK_DELETE"]);
    const source = await sourceOf({ webhooks: [{ id: "W1", url: "http://127.0.0.1:4242/fine", enabled: true }] });
    expect(await runMove(source, merchant, { args: ["--yes"] })).toMatchObject({ status: 0 });
    const [webhook] = expectOk(await merchant.get<{ id: string }[]>("/webhooks"), 200);
    expect((await merchant.delete(`/webhooks/${webhook?.id}`)).status).toBe(204);
    const { status, printed } = await runMove(source, merchant, { args: ["--yes"] });
    expect([status, printed]).toEqual([1, expect.stringMatching(/Not there after all: webhook \S+fine/)]);
  });
});

describe("a second run", () => {
  it("recognises rows that the server spells differently", async () => {
    const source = await newMerchant();
    const address = btcpayAccount("BTC", "segwit", 29).addresses[0]?.toUpperCase();
    const pages: Readonly<Record<string, unknown>> = {
      wallets: [{ walletType: "DIRECT_WALLET", cryptocurrency: "btc", network: "bitcoin", address }],
      webhooks: [{ id: "h1", url: "http://127.0.0.1:4242", events: ["invoice.paid", "invoice.created"] }],
      products: [{ name: "Tea ", price: 0.12345678, currency: "eur", description: "" }],
      customers: [
        { email: "Ann@Example.com", name: "" },
        { name: "Ben", phoneNumber: "" },
      ],
    };
    const server = createServer(({ url = "" }, response) => {
      response.end(JSON.stringify(pages[url.replace(/^.*\/|\?.*$/g, "")] ?? {}));
    });
    const { origin, close } = await listen(server);
    const from = { args: ["interface", "--from", origin, "--from-merchant", "old_1"], key: "sk_old_key" };
    const first = await runMove(from, source, { args: ["--yes"] });
    const moved = await stateOf(source);
    const second = await runMove(from, source, { args: ["--yes"] });
    await close();
    expect([first.status, first.printed]).toEqual([0, expect.stringContaining("5 made.")]);
    expect([second.status, second.printed]).toEqual([0, expect.stringContaining("There is nothing to write.")]);
    expect(await stateOf(source)).toEqual(moved);
  });
});

describe("the command", () => {
  it("asks for keys missing from the environment, and does not print them", async () => {
    const [merchant, { args, key }] = [await newMerchant(), await sourceOf()];
    const lines: string[] = [];
    const asked: string[] = [];
    const to = ["--to", service.baseUrl, "--merchant", merchant.merchantId];
    const status = await move([...args, ...to], {
      environment: {},
      print: (line) => lines.push(line),
      ask: async (question) => {
        asked.push(question);
        return "y";
      },
      askSecret: async (question) => {
        asked.push(question);
        return question.includes(merchant.merchantId) ? merchant.key : key;
      },
    });
    expect(status, lines.join("\n")).toBe(0);
    expect(asked).toEqual([
      expect.stringMatching(/^API key of http:\/\/127/),
      expect.stringMatching(/^API key of mer_/),
      "Write this? [y/N] ",
    ]);
    expect(lines.join("\n")).not.toMatch(new RegExp(`${key}|${merchant.key}`));
  });

  it("without keys and without a terminal sends no request", async () => {
    const lines: string[] = [];
    const { args } = await sourceOf();
    const around = { environment: {}, print: (line: string) => lines.push(line), ask: undefined, askSecret: undefined };
    expect([await move(args, around), lines]).toEqual([1, [expect.stringContaining("Set MOVE_FROM_KEY")]]);
    expect(open[0]?.requests).toEqual([]);
  });

  it("lists the stores and writes nothing if there are several and none is chosen", async () => {
    const btcpay = await startBtcpay({ version: 2, stores: [STORE, { ...STORE, id: "CakeStore1", name: "Cake" }] });
    open.push(btcpay);
    const merchant = await newMerchant();
    const source = { args: ["btcpay", "--from", btcpay.origin], key: btcpay.key };
    const { status, printed } = await runMove(source, merchant, { args: ["--yes"] });
    expect([status, printed]).toEqual([1, expect.stringMatching(/"Tea".*"Cake".*choose one with --store/s)]);
    expect(await stateOf(merchant)).toMatchObject({ settings: [3_600, 1, null] });
  });
});
