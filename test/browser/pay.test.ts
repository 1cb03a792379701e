// A payer's way through the checkout, live, on a real chain: from the choice back to the shop. At each stage axe looks for accessibility problems, at
// 320 and 1280 px, in light and dark. Other files mine on the same chain, so a payment that is examined unconfirmed needs more blocks than they mine.
import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { en } from "../../src/platform/texts/en.ts";
import { fill } from "../../src/platform/texts/texts.ts";
import { listen } from "../support/listen.ts";
import { findingsEverywhere } from "../support/page-axe.ts";
import { installWallet } from "../support/page-wallet.ts";
import {
  describeInBrowser,
  MANY_REQUIRED,
  methodOf,
  mine,
  mineUntil,
  ON_ETH,
  openShop,
  payPath,
  REQUIRED,
  seenIn,
  send,
  until,
  untilStage,
  useBrowser,
} from "./harness.ts";
import { forge, placeOrder, SHOP } from "./modal-shop.ts";
import { endInvoiceIn } from "./testbed.ts";

const SAME = "window.__same === 1";
/** Marks the document, so that the test detects a reload. */
const mark = (page: Page) => page.evaluate("window.__same = 1");
/** Replaces a part of the page that the server sends, such as the seconds to wait. */
const alter = (page: Page, path: string, from: RegExp, to: string) =>
  page.route(path, async (route) => {
    const answer = await route.fetch();
    const html = await answer.text();
    await route.fulfill({ response: answer, body: html.replace(from, to) });
  });
const heading = (page: Page) => page.locator("main h1");
const said = (page: Page) => page.locator("#say").textContent();
const amountDue = (page: Page) => page.locator('[data-part="amount"] [data-copy]').getAttribute("data-copy");
const addressShown = (page: Page) => page.locator(`button[aria-label="${en.copyAddress}"]`).getAttribute("data-copy");

describeInBrowser("a payer", () => {
  const browsing = useBrowser();
  const testbed = () => inject("testbed");

  /** An invoice that awaits USDC, and its page as a payer sees it. */
  async function waiting(
    fields: Readonly<Record<string, unknown>> = {},
    codes: Parameters<typeof openShop>[0] = ["USDC"],
    requiredConfirmations = REQUIRED,
  ) {
    const shop = await openShop(codes, requiredConfirmations);
    const [code = "USDC"] = codes ?? [];
    const invoice = await shop.createInvoice({ rawAmount: 20, ...fields });
    const visit = await browsing.visit();
    await visit.page.goto(payPath(invoice));
    await untilStage(visit.page, "pay");
    await mark(visit.page);
    const { address, amount } = await methodOf(shop, invoice, code);
    if (address === null || amount === null) throw new Error("nothing is asked for");
    return { shop, invoice, ...visit, address, amount };
  }

  it("chooses a currency, pays, sees the invoice become paid without a reload, and returns to the shop with a valid signature", async () => {
    const asked: URL[] = [];
    const merchant = await listen(
      createServer((request, response) => {
        asked.push(new URL(request.url ?? "/", "http://shop.test"));
        response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Thanks</title>");
      }),
    );
    try {
      const shop = await openShop(undefined, MANY_REQUIRED);
      const invoice = await shop.createInvoice({ rawAmount: 49.9, redirectUrl: `${merchant.origin}/back?order=7` });
      const { page, sockets } = await browsing.visit({ alsoAllowed: [merchant.origin] });
      await alter(page, `**${payPath(invoice)}/state**`, /data-return-seconds="\d+"/, 'data-return-seconds="2"');
      await page.goto(payPath(invoice));
      await untilStage(page, "choose");
      expect(await findingsEverywhere(page)).toEqual([]);
      await page.locator('button[name="method"][value="USDT_ETH"]').click();
      await untilStage(page, "pay");
      const { address, amount } = await methodOf(shop, invoice, "USDT");
      expect(await addressShown(page)).toBe(address);
      expect(await amountDue(page)).toBe(amount);
      expect(await seenIn(page.locator("main"))).toContain(`${amount} USDT`);
      expect(await findingsEverywhere(page)).toEqual([]);

      // It is too early, so the server redirects back to the page.
      const early = await fetch(`${shop.baseUrl}${payPath(invoice)}/return`, { redirect: "manual" });
      expect([early.status, early.headers.get("location")]).toEqual([303, expect.stringContaining(payPath(invoice))]);

      await mark(page);
      await send("USDT", amount ?? "", address ?? "");
      await mine();
      await untilStage(page, "seen");
      const [shown, count = "0"] = /(\d+) of \d+ \w+/.exec(await seenIn(page.locator('[data-part="payments"]'))) ?? [];
      expect(shown).toBe(fill(en.confirmations, { count: Math.max(1, Number(count)), required: MANY_REQUIRED }));
      expect(await said(page)).toBe(en.seenTitle);
      expect(await findingsEverywhere(page)).toEqual([]);
      await mine(MANY_REQUIRED);
      await mineUntil(shop, invoice, "PAID");
      await untilStage(page, "paid");
      expect(await said(page)).toBe(en.paidTitle);
      expect(await page.evaluate("document.activeElement.matches('main h1')")).toBe(true);
      expect(await page.evaluate(SAME)).toBe(true);
      // Each loaded page has opened one socket.
      expect(sockets).toHaveLength(2);
      await page.waitForURL(`${merchant.origin}/back?**`);
      const [back] = asked;
      const {
        order,
        invoiceId,
        status,
        timestamp = "",
        keyId,
        signature = "",
      } = Object.fromEntries(back?.searchParams ?? []);
      expect({ order, invoiceId, status }).toEqual({ order: "7", invoiceId: invoice.id, status: "PAID" });
      expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(60_000);
      const answer = await fetch(`${shop.baseUrl}/.well-known/edgetill-keys.json`);
      const { keys } = (await answer.json()) as { readonly keys: readonly (JsonWebKey & { readonly kid: string })[] };
      const key = keys.find(({ kid }) => kid === keyId);
      const text = `edgetill-return-v1\n${invoiceId}\n${status}\n${timestamp}`;
      const isSigned = (of: string) =>
        verify(
          null,
          Buffer.from(of),
          createPublicKey({ key: key ?? {}, format: "jwk" }),
          Buffer.from(signature, "base64url"),
        );
      expect(isSigned(text)).toBe(true);
      expect(isSigned(text.replace("PAID", "OVERPAID"))).toBe(false);
    } finally {
      await merchant.close();
    }
  });

  it("is not asked to choose if there is only one payment method", async () => {
    const { page } = await waiting();
    expect(await seenIn(page.locator("main"))).not.toContain(en.changeMethod);
  });

  it.each(["USDT", "ETH"] as const)(
    "pays the exact amount in %s with a browser wallet that starts on another chain",
    async (code) => {
      const shop = await openShop(["USDT", "ETH"]);
      const invoice = await shop.createInvoice({ rawAmount: 33.3, paymentMethods: [ON_ETH(code)] });
      const { page } = await browsing.visit();
      const wallet = await installWallet(page, {
        nodeUrl: testbed().chainUrl,
        name: "<b>Fox</b>",
        chainId: "0x89",
        refuses: ["eth_sendTransaction"],
      });
      await page.goto(`${payPath(invoice)}?method=${code}_ETH`);
      const button = page.locator("[data-wallets] button");
      expect(await seenIn(button)).toContain(fill(en.payWith, { wallet: "<b>Fox</b>" }));
      expect(await findingsEverywhere(page)).toEqual([]);
      await button.click();
      await page.locator("[data-wallet-status]", { hasText: en.walletRejected }).waitFor();
      expect(await said(page)).toBe(en.walletRejected);
      wallet.agree();
      await button.click();
      await until(
        async () => wallet.sent.length,
        (sent) => sent === 1,
        120_000,
      );
      await page.locator("[data-wallet-status]", { hasText: en.walletSent }).waitFor();
      expect(wallet.calls.map(({ method }) => method)).toEqual([
        "eth_requestAccounts",
        "wallet_switchEthereumChain",
        "eth_sendTransaction",
        "eth_requestAccounts",
        "eth_sendTransaction",
      ]);
      await mineUntil(shop, invoice, "PAID");
      await untilStage(page, "paid");
      const { payments, paymentMethods } = await shop.invoice(invoice.id);
      const method = paymentMethods.find(({ cryptocurrency }) => cryptocurrency === code);
      expect(payments).toMatchObject([
        { txHash: wallet.sent[0], currency: code, amount: method?.amount, matchedBy: "EXACT_AMOUNT" },
      ]);
    },
  );

  it("who paid only a part sees the missing amount, and pays it", async () => {
    const { shop, invoice, page, address } = await waiting({}, ["USDC"], MANY_REQUIRED);
    await send("USDC", "8", address);
    await mine();
    await untilStage(page, "partial");
    const { amountDue: due } = await methodOf(shop, invoice, "USDC");
    expect(due).toBe("12");
    expect(await amountDue(page)).toBe(due);
    expect(await seenIn(page.locator('[data-part="heading"]'))).toMatch(/\$8\.00.*\$20\.00/s);
    expect(await findingsEverywhere(page)).toEqual([]);
    await send("USDC", "12", address);
    await mine();
    await untilStage(page, "seen");
    expect(await page.locator('[data-part="payments"] li').count()).toBe(2);
    await mine(MANY_REQUIRED);
    await mineUntil(shop, invoice, "PAID");
    await untilStage(page, "paid");
    expect(await page.evaluate(SAME)).toBe(true);
  });

  it("who paid too much sees the amount asked for and the amount received", async () => {
    const { shop, invoice, page, address } = await waiting({}, ["DAI"]);
    await send("DAI", "30", address);
    await mineUntil(shop, invoice, "OVERPAID");
    await untilStage(page, "overpaid");
    expect(await seenIn(page.locator('[data-part="heading"]'))).toMatch(/\$30\.00.*\$20\.00/s);
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("sees the deadline pass, and reports a late payment in the form", async () => {
    const { shop, invoice, page, address, amount } = await waiting();
    expect(await seenIn(page.locator("[data-deadline]"))).toMatch(/^(59|1:00|60):\d\d/);
    expect(await seenIn(page.locator('[data-part="deadline"]'))).toContain(en.atExpiry);
    endInvoiceIn(testbed(), invoice.id, 8_000);
    await page.reload();
    await mark(page);
    expect(await seenIn(page.locator("[data-deadline]"))).toMatch(/^0?0:0\d$/);
    await untilStage(page, "checking");
    expect(await findingsEverywhere(page)).toEqual([]);
    await mineUntil(shop, invoice, "EXPIRED");
    await untilStage(page, "expired");
    expect(await page.evaluate(SAME)).toBe(true);
    expect(await seenIn(page.locator("main"))).not.toContain(address);
    expect(await findingsEverywhere(page)).toEqual([]);

    const hash = await send("USDC", amount, address);
    await mine(REQUIRED);
    await page.locator("summary", { hasText: en.claimTitle }).click();
    await page.getByLabel(en.claimHash).fill(hash);
    await page.getByRole("button", { name: en.claimSend }).click();
    await page.locator(".note", { hasText: "came too late" }).waitFor();
    await page.locator('[data-part="heading"]', { hasText: "decide about it" }).waitFor();
    expect(await shop.invoice(invoice.id)).toMatchObject({ status: "EXPIRED", isLate: true, needsReview: true });
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("who claims one transaction on the pages of three orders sees its true state on each page, live and after a reload", async () => {
    const shop = await openShop(["USDC"]);
    const orders: { readonly id: string; readonly page: Page }[] = [];
    for (const rawAmount of [80, 123.45, 16.59]) {
      const { id } = await shop.createInvoice({ rawAmount });
      const { page } = await browsing.visit();
      await page.goto(payPath({ id }));
      await untilStage(page, "pay");
      orders.push({ id, page });
    }
    const [first] = orders;
    if (first === undefined) throw new Error("no order");
    const { address } = await methodOf(shop, first, "USDC");
    const hash = await send("USDC", "40", address ?? "");
    await mine(REQUIRED);
    for (const { page } of orders) {
      await page.locator("summary", { hasText: en.claimOpen }).click();
      await page.getByLabel(en.claimHash).fill(hash);
      await page.getByRole("button", { name: en.claimSend }).click();
      await page
        .locator(".note", { hasText: /brought 40 USDC, and this invoice asks for (80|123.45|16.59) USDC/ })
        .waitFor();
      expect(await page.locator(".note.good").count()).toBe(0);
      await mark(page);
    }
    expect(await findingsEverywhere(first.page)).toEqual([]);
    const { data } = await shop.call<{ data: { id: string }[] }>("GET", `/payments?txHash=${hash}`);
    const decision = { action: "ASSIGN", invoiceId: first.id, reason: "They asked for it" };
    await shop.call("POST", `/payments/${data[0]?.id}/resolve`, decision);
    for (const isReloaded of [false, true])
      for (const { id, page } of orders) {
        if (isReloaded) await page.reload();
        const [text, good] = id === first.id ? [en.claimCredited, 1] : ["belongs to another order", 0];
        await page.locator(".note", { hasText: text }).waitFor();
        expect(await page.locator(".note.good").count()).toBe(good);
        expect(await page.evaluate(SAME)).toBe(!isReloaded);
        expect((await shop.invoice(id)).payments).toHaveLength(good);
      }
  });

  it("who paid on time, but too little, sees the missing amount", async () => {
    const { shop, invoice, page, address } = await waiting();
    await send("USDC", "10", address);
    await mine(REQUIRED);
    await untilStage(page, "partial");
    endInvoiceIn(testbed(), invoice.id, 1_500);
    await mineUntil(shop, invoice, "UNDERPAID");
    await untilStage(page, "underpaid");
    expect(await seenIn(page.locator('[data-part="heading"]'))).toContain("$10.00");
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("sees a cancellation by the shop at once", async () => {
    const { shop, invoice, page, address } = await waiting();
    await shop.cancelInvoice(invoice.id);
    await untilStage(page, "cancelled");
    expect(await seenIn(page.locator("main"))).not.toContain(address);
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("of an invoice for any amount sees an address and no amount", async () => {
    const shop = await openShop(["BTC"]);
    const invoice = await shop.createInvoice({ rawAmount: 0 });
    const { page } = await browsing.visit();
    await page.goto(payPath(invoice));
    await untilStage(page, "pay");
    expect(await seenIn(heading(page))).toBe(en.payAnyTitle);
    expect(await page.locator("[data-copy]").count()).toBe(1);
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("sees that a shop without a wallet cannot be paid", async () => {
    const shop = await openShop([]);
    const invoice = await shop.createInvoice();
    const { page } = await browsing.visit();
    await page.goto(payPath(invoice));
    await untilStage(page, "unavailable");
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("sees our own error page for an invoice that does not exist", async () => {
    const { page } = await browsing.visit({ alsoSaid: /404/ });
    const response = await page.goto("/pay/inv_00000000000000000000000000");
    expect(response?.status()).toBe(404);
    expect(await seenIn(heading(page))).toBe(en.problemTitle);
    expect(await findingsEverywhere(page)).toEqual([]);
  });

  it("gets a receipt that prints on one sheet, without the controls", async () => {
    const { shop, invoice, page, address, amount } = await waiting({ name: "Coffee, 1 kg" });
    const hash = await send("USDC", amount, address);
    await mineUntil(shop, invoice, "PAID");
    await untilStage(page, "paid");
    await page.getByRole("link", { name: en.showReceipt }).click();
    await page.getByRole("button", { name: en.receiptPrint }).waitFor();
    const text = await seenIn(page.locator("main"));
    for (const each of ["Coffee, 1 kg", "$20.00", `${amount} USDC`, hash, invoice.id]) expect(text).toContain(each);
    expect(await findingsEverywhere(page)).toEqual([]);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await page.getByRole("button", { name: en.receiptPrint }).isVisible()).toBe(false);
    expect(await page.locator("select").isVisible()).toBe(false);
    const sheet = await page.pdf({ format: "A4" });
    expect(sheet.toString("latin1").match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
  });

  it("without scripts sees after a refresh that the invoice is paid, and returns only with a button", async () => {
    const shop = await openShop(["USDC"]);
    const invoice = await shop.createInvoice({ rawAmount: 20, redirectUrl: "https://shop.example/back" });
    const { page } = await browsing.visit({ javaScriptEnabled: false });
    await page.goto(payPath(invoice));
    await untilStage(page, "pay");
    const refresh = page.locator('meta[http-equiv="refresh"]');
    expect(await refresh.getAttribute("content")).toBe("30");
    const { address, amount } = await methodOf(shop, invoice, "USDC");
    await send("USDC", amount ?? "", address ?? "");
    await mineUntil(shop, invoice, "PAID");
    await page.reload();
    await untilStage(page, "paid");
    expect(await refresh.count()).toBe(0);
    expect(await page.locator("a.button").first().getAttribute("href")).toBe(`${payPath(invoice)}/return`);
  });

  it("pays in a frame over the shop, which gets the progress and closes the frame; a forged message changes nothing, and an unlisted shop shows no frame", async () => {
    const { shop, invoice, address, amount } = await waiting();
    const { page } = await browsing.visit({ alsoAllowed: [SHOP], alsoSaid: /frame/i });
    await placeOrder(page, invoice.id);
    await page.waitForURL(`**${payPath(invoice)}`);
    await shop.changeSettings({ frameAncestors: [SHOP] });
    const { frame, heard, isOpen } = await placeOrder(page, invoice.id);
    await expect.poll(heard).toEqual(["enters", "loaded"]);
    await forge(page, invoice.id);
    expect([await heard(), (await shop.invoice(invoice.id)).status]).toEqual([
      ["enters", "loaded"],
      "AWAITING_PAYMENT",
    ]);
    await send("USDC", amount, address);
    await mineUntil(shop, invoice, "PAID");
    await expect.poll(heard).toContain("Settled");
    await frame.getByRole("button", { name: en.close }).click();
    await expect.poll(async () => [await isOpen(), ...(await heard()).slice(-2)]).toEqual([false, "leaves", "close"]);
  });

  it("sees changes even when the live connection fails", async () => {
    const shop = await openShop(["USDC"]);
    const invoice = await shop.createInvoice({ rawAmount: 20 });
    const { page } = await browsing.visit({ alsoSaid: /WebSocket/ });
    await page.routeWebSocket(/\/live$/, (socket) => socket.close());
    await alter(page, `**${payPath(invoice)}`, /data-poll-seconds="\d+"/, 'data-poll-seconds="1"');
    await page.goto(payPath(invoice));
    await untilStage(page, "pay");
    await shop.cancelInvoice(invoice.id);
    await untilStage(page, "cancelled");
  });
});
