import { expect, it } from "vitest";
import { describeInBrowser } from "./harness.ts";
import { mainOf, type Stand } from "./script-stand.ts";
import { open, untilAsked, useStands } from "./stands-harness.ts";

describeInBrowser("a browser wallet", () => {
  useStands();
  const ACCOUNT = "0xAAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa";
  /** A call to a token's function with an address and a number, as EIP-20 and the contract ABI define it. */
  const callOf = (selector: string, address: string, units: number) =>
    `0x${selector}${address.padStart(64, "0")}${units.toString(16).padStart(64, "0")}`;
  const SHOP = "70997970c51812dc3a010c7d01b50e0d17dc79c8";
  const THIEF = "3c44cdddb6a900fa2b585dd299e03d12fa4293bc";
  const [FIRST, SECOND] = [callOf("a9059cbb", SHOP, 10), callOf("a9059cbb", SHOP, 11)];
  const TRANSFER = {
    chainId: "0x89",
    to: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
    value: "0x0",
    data: FIRST,
  };
  const of = { pollSeconds: 3_000, hasSocket: false };

  const panel = (transfer: object) =>
    `<div data-part="wallets" data-wallets='${JSON.stringify(transfer)}' data-pay-with="Pay with {wallet}" data-waiting="Confirm in {wallet}"
      data-sent="Sent" data-rejected="Not sent by {wallet}" data-changed="Look again" data-wrong-network="Switch {wallet} to Polygon" hidden><p data-wallet-status></p></div>`;

  /** A wallet that answers as set in `window.wallet`, and records the requests it gets. */
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
        if (method === "eth_chainId") return wallet.chains?.shift() ?? wallet.chain;
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

  it("has a button with its name and icon, and receives no request before the button is pressed", async () => {
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

  it("has its icon shown as a picture, in which a script does not run", async () => {
    const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" onload="parent.owned=1"><script>parent.owned=1</script></svg>')}`;
    const name = `${"W".repeat(60)}<script>owned=1</script>`;
    const stand = await open(mainOf(panel(TRANSFER), of), { initScripts: [walletScript({ icon, name })] });
    expect(await stand.page.getAttribute("[data-wallet] img", "src")).toBe(icon);
    expect(await stand.text("[data-wallet]")).toBe(`Pay with ${"W".repeat(40)}`);
    await stand.settle();
    expect(await stand.page.evaluate("window.owned")).toBeUndefined();
  });

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
      ["eth_chainId"],
      ["eth_sendTransaction", { from: ACCOUNT, ...TRANSFER }],
    ]);
  });

  it("gets the transfer at each press of its button only after the page has requested it from the server again", async () => {
    const stand = await openWallet(TRANSFER, "wallet.errors.eth_sendTransaction = { code: 4001 }");
    for (const times of [1, 2]) {
      await press(stand);
      await expect.poll(async () => (await sent(stand)).length).toBe(times);
      await status(stand, "Not sent by Test Wallet");
      expect(stand.asked).toHaveLength(times);
    }
  });

  it("gets a new amount only once the page shows it", async () => {
    const stand = await openWallet();
    stand.answer(mainOf(panel({ ...TRANSFER, data: SECOND }), of));
    await press(stand);
    await status(stand, "Look again");
    expect(await sent(stand)).toEqual([]);
    // The page has been updated.
    await untilAsked(stand, 2);
    await press(stand);
    await status(stand, "Sent");
    expect(await sent(stand)).toMatchObject([["eth_sendTransaction", { data: SECOND }]]);
  });

  it.each([
    ["another recipient", { ...TRANSFER, data: callOf("a9059cbb", THIEF, 10) }],
    ["another token", { ...TRANSFER, to: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F" }],
    ["another chain", { ...TRANSFER, chainId: "0x1" }],
    ["no transfer", { ...TRANSFER, data: callOf("095ea7b3", SHOP, 10) }],
  ])("gets nothing if the server responds with %s after the button was pressed", async (_, other) => {
    const stand = await openWallet(TRANSFER, "wallet.waits.eth_requestAccounts = true");
    await press(stand);
    await status(stand, "Confirm in Test Wallet");
    // The wallet is not asked to send either if the page has meanwhile been updated and names the other transfer.
    stand.answer(mainOf(panel(other), of));
    await stand.hide(false);
    await untilAsked(stand, 1);
    await stand.page.evaluate("wallet.goOn()");
    await status(stand, "Look again");
    expect(await sent(stand)).toEqual([]);
  });

  it.each([
    ["an approval of a token", { ...TRANSFER, data: callOf("095ea7b3", SHOP, 10) }],
    ["a transfer from another account", { ...TRANSFER, data: `${callOf("23b872dd", SHOP, 10)}${"0".repeat(64)}` }],
    ["a transfer with extra bytes after it", { ...TRANSFER, data: `${FIRST}00` }],
    ["a transfer to an invalid address", { ...TRANSFER, data: FIRST.replace("a9059cbb0", "a9059cbb1") }],
    ["a token transfer that also sends coins", { ...TRANSFER, value: "0x1" }],
    ["a contract call that sends coins", { ...TRANSFER, value: "0xa", data: "0xd0e30db0" }],
    ["a transfer of no coins", { ...TRANSFER, data: "0x" }],
  ])("never gets %s, even if both the page and the server contain it", async (_, other) => {
    const stand = await openWallet(other);
    await press(stand);
    await status(stand, "Look again");
    expect(await calls(stand)).toEqual([]);
  });

  it("gets nothing if the server does not answer", async () => {
    const stand = await openWallet();
    stand.answer({ status: 503 });
    await press(stand);
    await status(stand, "Look again");
    expect(await sent(stand)).toEqual([]);
  });

  it("that is switched to another chain while the server is asked gets nothing", async () => {
    const stand = await openWallet(TRANSFER, "wallet.chains = ['0x89', '0x1']");
    await press(stand);
    await status(stand, "Switch Test Wallet to Polygon");
    expect(await sent(stand)).toEqual([]);
  });

  it("is not asked to switch when it is on the chain already, whatever the format of the chain id", async () => {
    const stand = await openWallet(TRANSFER, "wallet.chain = '0x089'");
    await press(stand);
    await status(stand, "Sent");
    const looks = ["eth_chainId", "eth_chainId"];
    expect(await methods(stand)).toEqual(["eth_requestAccounts", ...looks, "eth_sendTransaction"]);
  });

  it.each([
    ["does not know the chain", "wallet.errors.wallet_switchEthereumChain = { code: 4902 }"],
    ["reports that it switched but did not", "wallet.switchedTo = '0x1'"],
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
    // A second press sends nothing even after the panel was replaced: the new panel still shows "Sent".
    stand.answer(mainOf(panel({ ...TRANSFER, data: SECOND }), of));
    await stand.hide(false);
    // A slow page may also send a request by itself.
    await expect.poll(() => stand.asked.length).toBeGreaterThan(0);
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
      mainOf(`<h1 tabindex="-1">Rest</h1>${panel({ ...TRANSFER, data: SECOND })}`, { ...of, stage: "partial" }),
    );
    await stand.hide(false);
    await expect.poll(() => stand.page.getAttribute("[data-wallet]", "aria-disabled")).toBe("false");
    await press(stand);
    await expect
      .poll(async () => (await sent(stand)).map(([, params]) => params))
      .toMatchObject([{}, { data: SECOND }]);
  });

  it("sends the transfer that is shown at the time of sending, not the one that was shown when its button was pressed", async () => {
    const stand = await openWallet(TRANSFER, "wallet.waits.eth_requestAccounts = true");
    await press(stand);
    await status(stand, "Confirm in Test Wallet");
    stand.answer(mainOf(panel({ ...TRANSFER, data: SECOND }), of));
    await stand.hide(false);
    await untilAsked(stand, 1);
    // The panel was replaced: its new button is still disabled.
    expect(await stand.page.getAttribute("[data-wallet]", "aria-disabled")).toBe("true");
    await stand.page.evaluate("wallet.goOn()");
    await status(stand, "Sent");
    expect(await sent(stand)).toMatchObject([["eth_sendTransaction", { data: SECOND }]]);
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
