import { expect, it } from "vitest";
import { describeInBrowser } from "./harness.ts";
import { mainOf, type Stand } from "./script-stand.ts";
import { open, untilAsked, useStands } from "./stands-harness.ts";

describeInBrowser("a browser wallet", () => {
  useStands();
  const ACCOUNT = "0xAAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa";
  const TRANSFER = {
    chainId: "0x89",
    to: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
    value: "0x0",
    data: "0xa9059cbb00",
  };
  const of = { pollSeconds: 3_000, hasSocket: false };

  const panel = (transfer: object) =>
    `<div data-part="wallets" data-wallets='${JSON.stringify(transfer)}' data-pay-with="Pay with {wallet}" data-waiting="Confirm in {wallet}"
      data-sent="Sent" data-rejected="Not sent by {wallet}" data-wrong-network="Switch {wallet} to Polygon" hidden><p data-wallet-status></p></div>`;

  /** A wallet that answers as set in `window.wallet`, and records its requests. */
  const walletScript = (info: object = {}) => `
    window.calls ??= [];
    window.wallet ??= { chain: "0x1", switchedTo: "0x89", errors: {}, waits: {} };
    window.announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({
      info: ${JSON.stringify({ uuid: "w1", name: "Test Wallet", icon: "data:image/svg+xml,<svg/>", rdns: "test", ...info })},
      provider: { async request({ method, params }) {
        calls.push(params === undefined ? [method] : [method, ...params]);
        if (wallet.waits[method]) await new Promise((done) => { wallet.goOn = done; });
        if (wallet.errors[method]) throw wallet.errors[method];
        if (method === "eth_requestAccounts") return ["${ACCOUNT}"];
        if (method === "eth_chainId") return wallet.chain;
        if (method === "wallet_switchEthereumChain") { wallet.chain = wallet.switchedTo; return null; }
        return "0xhash";
      } },
    }) }));
    window.addEventListener("eip6963:requestProvider", announce);`;

  async function openWallet(transfer: object = TRANSFER, before = ""): Promise<Stand> {
    return open(mainOf(panel(transfer), of), { initScripts: [walletScript(), before] });
  }

  const calls = (stand: Stand) => stand.page.evaluate<unknown[][]>("calls");
  const methods = async (stand: Stand) => (await calls(stand)).map(([method]) => method);
  const press = (stand: Stand) => stand.page.click("[data-wallet]", { force: true });
  const status = (stand: Stand, text: string) => expect.poll(() => stand.text("[data-wallet-status]")).toBe(text);
  const sent = async (stand: Stand) => (await calls(stand)).filter(([method]) => method === "eth_sendTransaction");

  it("has a button with its name and icon, and receives no request before it is pressed", async () => {
    const stand = await openWallet();
    expect(await stand.text("[data-wallet]")).toBe("Pay with Test Wallet");
    expect(await stand.page.getAttribute("[data-wallet] img", "src")).toBe("data:image/svg+xml,<svg/>");
    await stand.page.evaluate("announce()");
    expect(await stand.page.locator("[data-wallet]").count()).toBe(1);
    expect(await calls(stand)).toEqual([]);
  });

  it.each([["https://wallet.example/icon.png"], ["javascript:alert(1)"], ["data:text/html,<b>"], [7]])(
    "has no icon from %s, and its name is shown as text",
    async (icon) => {
      const name = "<img src=x>\u202e$&\u0000Wallet";
      const stand = await open(mainOf(panel(TRANSFER), of), { initScripts: [walletScript({ icon, name })] });
      expect(await stand.text("[data-wallet]")).toBe("Pay with <img src=x>$&Wallet");
      expect(await stand.page.locator("[data-wallet] img").count()).toBe(0);
    },
  );

  it("sends exactly the page's transfer, once it is on the right chain", async () => {
    const stand = await openWallet();
    await press(stand);
    await status(stand, "Sent");
    expect(await stand.text("#say")).toBe("Sent");
    const { chainId } = TRANSFER;
    expect(await calls(stand)).toEqual([
      ["eth_requestAccounts"],
      ["eth_chainId"],
      ["wallet_switchEthereumChain", { chainId }],
      ["eth_chainId"],
      ["eth_sendTransaction", { from: ACCOUNT, ...TRANSFER }],
    ]);
  });

  it("is not asked to switch when it is on the chain already, whatever the format of the chain id", async () => {
    const stand = await openWallet(TRANSFER, "wallet.chain = '0x089'");
    await press(stand);
    await status(stand, "Sent");
    expect(await methods(stand)).toEqual(["eth_requestAccounts", "eth_chainId", "eth_sendTransaction"]);
  });

  it.each([
    ["does not know the chain", "wallet.errors.wallet_switchEthereumChain = { code: 4902 }"],
    ["says that it switched but did not", "wallet.switchedTo = '0x1'"],
    ["reports an invalid chain id", "wallet.switchedTo = 'polygon'"],
  ])("that %s is not asked to send, and the payer is asked to switch", async (_, before) => {
    const stand = await openWallet(TRANSFER, before);
    await press(stand);
    await status(stand, "Switch Test Wallet to Polygon");
    expect(await sent(stand)).toEqual([]);
    await stand.page.evaluate("wallet.chain = '0x89'");
    await press(stand);
    await status(stand, "Sent");
  });

  it.each(["eth_requestAccounts", "wallet_switchEthereumChain", "eth_sendTransaction"])(
    "whose owner rejects %s can be used again",
    async (method) => {
      const stand = await openWallet(TRANSFER, `wallet.errors.${method} = { code: 4001, message: "no" }`);
      await press(stand);
      await status(stand, "Not sent by Test Wallet");
      await stand.page.evaluate("wallet.errors = {}");
      await press(stand);
      await status(stand, "Sent");
    },
  );

  it("sends once, however often its button is pressed", async () => {
    const stand = await openWallet(TRANSFER, "wallet.waits.eth_sendTransaction = true");
    await stand.page.dblclick("[data-wallet]");
    await status(stand, "Confirm in Test Wallet");
    await expect.poll(async () => (await sent(stand)).length).toBe(1);
    await press(stand);
    expect(await stand.page.getAttribute("[data-wallet]", "aria-disabled")).toBe("true");
    await stand.page.evaluate("wallet.goOn()");
    await status(stand, "Sent");
    await press(stand);
    // Nor after the part was replaced, which then says again that it was sent.
    stand.answer(mainOf(panel({ ...TRANSFER, data: "0x02" }), of));
    await stand.hide(false);
    await untilAsked(stand, 1);
    expect(await stand.text("[data-wallet-status]")).toBe("Sent");
    await press(stand);
    await stand.settle();
    expect(await sent(stand)).toHaveLength(1);
  });

  it("can send the rest once the page shows a partial payment", async () => {
    const stand = await openWallet();
    await press(stand);
    await status(stand, "Sent");
    stand.answer(
      mainOf(`<h1 tabindex="-1">Rest</h1>${panel({ ...TRANSFER, data: "0x02" })}`, { ...of, stage: "partial" }),
    );
    await stand.hide(false);
    await expect.poll(() => stand.page.getAttribute("[data-wallet]", "aria-disabled")).toBe("false");
    await press(stand);
    await expect
      .poll(async () => (await sent(stand)).map(([, params]) => params))
      .toMatchObject([{}, { data: "0x02" }]);
  });

  it("sends the page's transfer at the time of sending, not at the time its button was pressed", async () => {
    const stand = await openWallet(TRANSFER, "wallet.waits.eth_requestAccounts = true");
    await press(stand);
    await status(stand, "Confirm in Test Wallet");
    stand.answer(mainOf(panel({ ...TRANSFER, data: "0x02" }), of));
    await stand.hide(false);
    await untilAsked(stand, 1);
    // The part was replaced: its button is there again, and still disabled.
    expect(await stand.page.getAttribute("[data-wallet]", "aria-disabled")).toBe("true");
    await stand.page.evaluate("wallet.goOn()");
    await status(stand, "Sent");
    expect(await sent(stand)).toMatchObject([["eth_sendTransaction", { data: "0x02" }]]);
  });

  it.each([
    ["has nothing left to pay", `<h1 tabindex="-1">Expired</h1>`, "expired"],
    ["asks for a payment on another chain", panel({ ...TRANSFER, chainId: "0x1" }), "pay"],
    ["contains an invalid transfer", panel({ ...TRANSFER, to: "somebody" }), "pay"],
  ])("sends nothing when the page meanwhile %s", async (_, inner, stage) => {
    const stand = await openWallet(TRANSFER, "wallet.waits.eth_requestAccounts = true");
    await press(stand);
    await status(stand, "Confirm in Test Wallet");
    stand.answer(mainOf(inner, { ...of, stage }));
    await stand.hide(false);
    await untilAsked(stand, 1);
    await stand.page.evaluate("wallet.goOn()");
    await expect.poll(async () => (await methods(stand)).at(-1)).toBe("eth_chainId");
    await stand.settle();
    expect(await sent(stand)).toEqual([]);
  });

  it("that is announced with invalid details is not shown", async () => {
    const stand = await openWallet(TRANSFER, "window.removeEventListener('eip6963:requestProvider', announce)");
    for (const detail of [
      "null",
      "{}",
      "{ info: { uuid: 'a', name: 'b' } }",
      "{ info: 'x', provider: { request() {} } }",
    ])
      await stand.page.evaluate(`dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: ${detail} }))`);
    expect(await stand.page.locator("[data-wallet]").count()).toBe(0);
    expect(await stand.page.isVisible("[data-wallets]")).toBe(false);
  });
});
