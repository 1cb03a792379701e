// What the one script of the checkout pages does, each thing by itself. The tests beside this one show it on the real pages.
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { launchChromium } from "../support/page-browser.ts";
import { describeInBrowser } from "./harness.ts";
import { mainOf, openStand, PAY, SERVER_MS, type Stand, type StandOptions } from "./script-stand.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let browser: Browser;
let stands: Stand[] = [];

/** A page that is closed with the test. */
async function open(main: string, options: StandOptions & { readonly before?: string } = {}): Promise<Stand> {
  const stand = await openStand(browser, main, options);
  stands.push(stand);
  return stand;
}

function useStands(): void {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const ending = stands;
    stands = [];
    for (const stand of ending) await stand.close();
  });
}

/** Until the page has got as many answers. What it does with the last one is done in the same turn. */
async function untilAsked(stand: Stand, count: number): Promise<void> {
  await expect.poll(() => stand.asked.length).toBe(count);
  await stand.settle();
}

describeInBrowser("the countdown", () => {
  useStands();
  const time = (ms: number) => `<p data-part="deadline"><time data-deadline="${ms}">then</time></p>`;

  it.each([
    ["ahead", SERVER_MS + 300 * MINUTE],
    ["behind", SERVER_MS - 300 * MINUTE],
  ])("goes by the server's clock, though the payer's machine is hours %s", async (_, machineMs) => {
    const stand = await open(mainOf(time(SERVER_MS + 65 * SECOND)), { machineMs });
    expect(await stand.text("time")).toBe("01:05");
  });

  it("goes by the server's clock where time runs, too", async () => {
    const stand = await open(mainOf(time(SERVER_MS + 120 * MINUTE)), {
      isHeld: false,
      initScripts: ["const real = Date.now; Date.now = () => real() + 5 * 3600_000;"],
    });
    // Half an hour for the slowest machine, a tenth of what the clocks differ by.
    expect(await stand.text("time")).toMatch(/^(2:00:00|1:[345]\d:\d\d)$/);
  });

  it("counts seconds, shows hours where there are some, and stops at nothing", async () => {
    const stand = await open(mainOf(time(SERVER_MS + 3_600 * SECOND + 1_500)));
    expect(await stand.text("time")).toBe("1:00:02");
    await stand.pass(SECOND);
    expect(await stand.text("time")).toBe("1:00:01");
    await stand.pass(2 * SECOND);
    expect(await stand.text("time")).toBe("59:59");
    await stand.page.clock.fastForward(60 * MINUTE);
    expect(await stand.text("time")).toBe("00:00");
  });

  it("asks for the state at zero, and again after growing pauses while nothing new comes", async () => {
    // Pauses are drawn a quarter longer or shorter; here each is what it is drawn around.
    const initScripts = ["Math.random = () => 0.5"];
    const main = mainOf(time(SERVER_MS + 5 * SECOND), { pollSeconds: 3_000, hasSocket: false });
    const stand = await open(main, { initScripts });
    await stand.pass(4_900);
    expect(stand.asked).toHaveLength(0);
    stand.answer(
      mainOf(time(SERVER_MS + 5 * SECOND), { pollSeconds: 3_000, hasSocket: false, nowMs: SERVER_MS + 5_100 }),
    );
    const counts: number[] = [];
    for (let second = 0; second < 40; second++) {
      await stand.pass(SECOND);
      counts.push(stand.asked.length);
    }
    // At 0, 1, 3, 7, 15 and 31 seconds, noticed within a second.
    expect(counts[0]).toBe(1);
    expect(counts[5]).toBeGreaterThanOrEqual(3);
    expect(counts[39]).toBeLessThanOrEqual(7);
    // A new amount, with a deadline of its own.
    stand.answer(
      mainOf(time(SERVER_MS + 100 * SECOND), { pollSeconds: 3_000, hasSocket: false, nowMs: SERVER_MS + 40_000 }),
    );
    await stand.hide(false);
    await expect.poll(() => stand.text("time")).toBe("01:00");
  });
});

describeInBrowser("a copy button", () => {
  useStands();
  const button = `<button type="button" data-copy="0xAbC" data-copied="Copied already" data-say="The address was copied"
    data-failed="Select it" hidden>Copy <b>it</b></button>`;

  it("copies exactly, says so on itself without growing and to those who listen, and is itself again", async () => {
    const stand = await open(mainOf(button), { permissions: ["clipboard-read", "clipboard-write"] });
    const copy = stand.page.locator("[data-copy]");
    const before = await copy.boundingBox();
    await copy.click();
    await expect.poll(() => stand.text("[data-copy]")).toBe("Copied already");
    expect((await copy.boundingBox())?.width).toBe(before?.width);
    expect(await stand.page.evaluate("navigator.clipboard.readText()")).toBe("0xAbC");
    expect(await stand.text("#say")).toBe("The address was copied");
    await copy.click();
    await expect.poll(() => stand.text("#say")).toBe("The address was copied\u00a0");
    await stand.pass(2 * SECOND);
    expect(await copy.innerHTML()).toBe("Copy <b>it</b>");
    expect(await copy.boundingBox()).toEqual(before);
  });

  it("copies where there is no clipboard to ask, and keeps the focus", async () => {
    const stand = await open(mainOf(`${button}<input id="paste">`), {
      initScripts: ["Object.defineProperty(navigator, 'clipboard', { value: undefined })"],
    });
    await stand.page.click("[data-copy]");
    await expect.poll(() => stand.text("[data-copy]")).toBe("Copied already");
    expect(await stand.page.evaluate("document.activeElement.dataset.copy")).toBe("0xAbC");
    await stand.page.focus("#paste");
    await stand.page.keyboard.press("Control+V");
    expect(await stand.page.inputValue("#paste")).toBe("0xAbC");
  });

  it("says what else can be done where nothing can copy", async () => {
    const stand = await open(mainOf(button), {
      initScripts: [
        "Object.defineProperty(navigator, 'clipboard', { value: undefined }); document.execCommand = () => false;",
      ],
    });
    await stand.page.click("[data-copy]");
    await expect.poll(() => stand.text("[data-copy]")).toBe("Select it");
    expect(await stand.text("#say")).toBe("Select it");
  });
});

describeInBrowser("the search", () => {
  useStands();
  const list = `<input type="search" data-search hidden><form action="/wrong" data-part="choices">
    <fieldset data-find-group><button name="method" value="a" data-find="usdt tether ethereum erc-20">a</button>
      <button name="method" value="b" data-find="usdt tether tron trc-20">b</button></fieldset>
    <fieldset data-find-group><button name="method" value="c" data-find="btc bitcoin">c</button></fieldset>
    <p data-find-none hidden>Nothing</p></form>`;

  it("shows what has every word, in any case and accent, and hides groups that have nothing", async () => {
    const stand = await open(mainOf(list));
    const shown = () => stand.page.locator("button:visible").allTextContents();
    const groups = () => stand.page.locator("fieldset:visible").count();
    expect(await shown()).toEqual(["a", "b", "c"]);
    await stand.page.fill("[data-search]", " TRÓN  teth ");
    expect([await shown(), await groups()]).toEqual([["b"], 1]);
    expect(await stand.page.isVisible("[data-find-none]")).toBe(false);
    await stand.page.fill("[data-search]", "dogecoin");
    expect([await shown(), await groups()]).toEqual([[], 0]);
    expect(await stand.page.isVisible("[data-find-none]")).toBe(true);
    await stand.page.fill("[data-search]", "");
    expect([await shown(), await groups()]).toEqual([["a", "b", "c"], 2]);
  });

  it("goes to the first one found on Enter, and sends nothing", async () => {
    const stand = await open(mainOf(`<form action="/wrong">${list.replace(/<form[^>]*>/, "")}`));
    await stand.page.fill("[data-search]", "bitcoin");
    await stand.page.press("[data-search]", "Enter");
    expect(await stand.page.evaluate("document.activeElement.value")).toBe("c");
    expect(stand.opened).toEqual([PAY]);
  });

  it("still holds after the list was written anew", async () => {
    const of = { pollSeconds: 5, hasSocket: false };
    const stand = await open(mainOf(list, of));
    await stand.page.fill("[data-search]", "bitcoin");
    stand.answer(mainOf(list.replace(">c<", ">C<"), of));
    await stand.pass(6 * SECOND);
    await untilAsked(stand, 1);
    expect(await stand.page.locator("button:visible").allTextContents()).toEqual(["C"]);
    expect(await stand.page.inputValue("[data-search]")).toBe("bitcoin");
  });
});

describeInBrowser("news", () => {
  useStands();
  const of = { pollSeconds: 5, hasSocket: false };
  const parts = (amount: string, more = "") => `<h1 tabindex="-1">Pay</h1>
    <div data-part="amount"><b>${amount}</b><button type="button" data-copy="${amount}" data-copied="ok" data-failed="no" hidden>Copy</button></div>
    <div data-part="codes"><p>${amount}</p><input type="radio" name="qr" id="one" checked><input type="radio" name="qr" id="two">
      <details><summary>More</summary>${amount}</details></div>
    <div data-part="still"><i>same</i><em data-part="inner">${more}</em></div>
    <details id="claim"><summary>Sent?</summary><input id="hash" name="txHash"></details>`;

  async function answered(stand: Stand, count: number): Promise<void> {
    await stand.pass(6 * SECOND);
    await untilAsked(stand, count);
  }

  it("change only the parts that the server wrote differently", async () => {
    const stand = await open(mainOf(parts("1.5"), of));
    await stand.page.evaluate(`for (const each of document.querySelectorAll("main, [data-part], i")) each.mark = true`);
    stand.answer(mainOf(parts("1.6", "new"), { ...of, title: "New", nowMs: SERVER_MS + 9 }));
    await answered(stand, 1);
    const marks = `[...document.querySelectorAll("[data-part]")].map((each) => each.dataset.part + ":" + (each.mark === true))`;
    expect(await stand.page.evaluate(marks)).toEqual(["amount:false", "codes:false", "still:true", "inner:false"]);
    expect(await stand.page.evaluate(`document.querySelector("main").mark && document.querySelector("i").mark`)).toBe(
      true,
    );
    expect(await stand.text("b")).toBe("1.6");
    expect(await stand.text("em")).toBe("new");
    expect(await stand.page.isVisible("[data-copy]")).toBe(true);
    expect(await stand.page.title()).toBe("New");
    expect(await stand.page.getAttribute("main", "data-now")).toBe(String(SERVER_MS + 9));
  });

  it("that say the same change nothing, though the script has changed the page", async () => {
    const stand = await open(mainOf(parts("1.5"), of));
    await stand.page.evaluate(`window.changes = 0;
      new MutationObserver((all) => { changes += all.filter(({ type }) => type === "childList").length; })
        .observe(document.body, { childList: true, subtree: true })`);
    stand.answer(mainOf(parts("1.5"), { ...of, nowMs: SERVER_MS + 6_000 }));
    await answered(stand, 1);
    expect(await stand.page.evaluate("changes")).toBe(0);
  });

  it("leave what was typed, opened, chosen and focused", async () => {
    const stand = await open(mainOf(parts("1.5"), of));
    await stand.page.click("#claim summary");
    await stand.page.click("[data-part=codes] summary");
    await stand.page.check("#two");
    await stand.page.fill("#hash", "0xabc");
    stand.answer(mainOf(parts("1.6"), of));
    await answered(stand, 1);
    expect(await stand.page.inputValue("#hash")).toBe("0xabc");
    expect(await stand.page.evaluate("document.activeElement.id")).toBe("hash");
    expect(await stand.page.isChecked("#two")).toBe(true);
    expect(await stand.page.locator("details[open]").count()).toBe(2);
    await stand.page.focus("[data-copy]");
    stand.answer(mainOf(parts("1.7"), of));
    await answered(stand, 2);
    expect(await stand.page.evaluate("document.activeElement.dataset.copy")).toBe("1.7");
  });

  it("of another stage take the payer to its heading and are told", async () => {
    const stand = await open(mainOf(parts("1.5"), of), { before: `<p><a href="/elsewhere">Shop</a></p>` });
    await stand.page.focus("[data-copy]");
    stand.answer(
      mainOf(`<h1 tabindex="-1">Seen</h1>`, { ...of, stage: "seen", stageText: "Payment seen", title: "Seen" }),
    );
    await answered(stand, 1);
    expect(await stand.page.evaluate("document.activeElement.textContent")).toBe("Seen");
    expect(await stand.text("#say")).toBe("Payment seen");
    expect(await stand.page.title()).toBe("Seen");
    await stand.page.focus("a");
    stand.answer(mainOf(`<h1 tabindex="-1">Paid</h1>`, { ...of, stage: "paid", pollSeconds: 0 }));
    await answered(stand, 2);
    // Whoever was outside of it is left there.
    expect(await stand.page.evaluate("document.activeElement.textContent")).toBe("Shop");
    await stand.pass(3 * MINUTE);
    expect(stand.asked).toHaveLength(2);
  });

  it("run nothing, and what is no <main> is not shown", async () => {
    const stand = await open(mainOf(parts("1.5"), of));
    const hostile = `<script>window.hit = 1</script><img src="x" onerror="window.hit = 1">`;
    stand.answer(mainOf(parts("1.6", hostile), of));
    await answered(stand, 1);
    stand.answer("<h1>We will be back</h1>");
    await answered(stand, 2);
    expect(await stand.page.evaluate("String(window.hit)")).toBe("undefined");
    expect(await stand.text("b")).toBe("1.6");
  });
});

describeInBrowser("the live connection", () => {
  useStands();
  const main = mainOf(`<p data-part="a">one</p>`, { pollSeconds: 5 });
  const changed = mainOf(`<p data-part="a">two</p>`, { pollSeconds: 5 });
  const connected = (stand: Stand, count = 1) => expect.poll(() => stand.sockets.length).toBe(count);
  const last = (stand: Stand) => stand.sockets.at(-1);

  it("asks when it is told, once for what was told meanwhile, and else only every minute", async () => {
    const stand = await open(main);
    await connected(stand);
    // What changed while the page was on its way was told to nobody.
    await stand.pass(6 * SECOND);
    await untilAsked(stand, 1);
    await stand.pass(50 * SECOND);
    expect(stand.asked).toHaveLength(1);
    await stand.pass(20 * SECOND);
    await untilAsked(stand, 2);
    stand.answer(changed);
    last(stand)?.send("changed");
    await expect.poll(() => stand.text("p[data-part]")).toBe("two");
    expect(stand.asked).toHaveLength(3);
    expect(stand.heard.length).toBeGreaterThan(0);
    expect(new Set(stand.heard)).toEqual(new Set(["ping"]));
  });

  it("asks every few seconds where blocks are counted, which nobody tells of", async () => {
    const stand = await open(mainOf("<progress></progress>", { pollSeconds: 5 }));
    await connected(stand);
    for (let count = 1; count <= 3; count++) {
      await stand.pass(6 * SECOND);
      await untilAsked(stand, count);
    }
  });

  it("asks every few seconds when it is lost, comes back after growing pauses, and then asks at once", async () => {
    const stand = await open(main);
    await connected(stand);
    await stand.pass(6 * SECOND);
    await untilAsked(stand, 1);
    stand.letIn(false);
    await last(stand)?.close();
    await stand.settle();
    for (let count = 2; count <= 3; count++) {
      await stand.pass(6 * SECOND);
      await untilAsked(stand, count);
    }
    stand.letIn(true);
    stand.answer(changed);
    await stand.pass(MINUTE);
    await connected(stand, 2);
    await expect.poll(() => stand.text("p[data-part]")).toBe("two");
  });

  it("puts no question off by being lost again and again", async () => {
    const stand = await open(mainOf("<p></p>", { pollSeconds: 30, hasSocket: true }));
    await connected(stand);
    stand.letIn(false);
    await last(stand)?.close();
    await stand.pass(34 * SECOND);
    await untilAsked(stand, 1);
  });

  it("is given up when it answers no more", async () => {
    const stand = await open(main);
    await connected(stand);
    last(stand)?.onMessage(() => {});
    await stand.pass(MINUTE + SECOND);
    await stand.pass(SECOND);
    await connected(stand, 2);
  });

  it("rests while nobody looks, but hears, and asks at once when somebody looks again", async () => {
    const stand = await open(main);
    await connected(stand);
    await stand.hide(true);
    await stand.pass(3 * MINUTE);
    expect(stand.asked).toHaveLength(0);
    stand.answer(changed);
    last(stand)?.send("changed");
    await untilAsked(stand, 1);
    expect(await stand.text("p[data-part]")).toBe("two");
    await last(stand)?.close();
    await stand.settle();
    await stand.pass(3 * MINUTE);
    expect([stand.asked.length, stand.sockets.length]).toEqual([1, 1]);
    await stand.hide(false);
    await connected(stand, 2);
    await expect.poll(() => stand.asked.length).toBeGreaterThan(1);
  });

  it.each([404, 410])(
    "loads the page anew when the invoice is gone (%i): nobody may pay by the old one",
    async (status) => {
      // Told by the socket alone, so that the page that comes asks for nothing by itself.
      const stand = await open(mainOf("", { pollSeconds: 3_000 }));
      await connected(stand);
      stand.answer({ status });
      stand.sockets[0]?.send("changed");
      await expect.poll(() => stand.opened.length).toBe(2);
      await connected(stand, 2);
    },
  );

  it("waits as long as the server wants it to, whatever is told meanwhile", async () => {
    const stand = await open(main);
    await connected(stand);
    stand.answer({ status: 429, headers: { "retry-after": "40" } });
    await stand.pass(6 * SECOND);
    await untilAsked(stand, 1);
    stand.answer(changed);
    last(stand)?.send("changed");
    await stand.pass(30 * SECOND);
    expect(stand.asked).toHaveLength(1);
    await stand.pass(12 * SECOND);
    await untilAsked(stand, 2);
    expect(await stand.text("p[data-part]")).toBe("two");
  });

  it("asks after growing pauses while the server fails", async () => {
    const stand = await open(mainOf("", { pollSeconds: 5, hasSocket: false }));
    stand.answer({ status: 500 });
    await stand.pass(6 * SECOND);
    await untilAsked(stand, 1);
    await stand.pass(8 * SECOND);
    expect(stand.asked).toHaveLength(1);
    await stand.pass(4 * SECOND);
    await untilAsked(stand, 2);
    await stand.pass(17 * SECOND);
    expect(stand.asked).toHaveLength(2);
    await stand.pass(6 * SECOND);
    await untilAsked(stand, 3);
  });

  it("says which state it has, and is content to hear that it is the same", async () => {
    const stand = await open(main);
    await connected(stand);
    stand.answer({ status: 200, body: changed, headers: { etag: '"2"' } });
    last(stand)?.send("changed");
    await untilAsked(stand, 1);
    expect(stand.asked[0]?.["if-none-match"]).toBeUndefined();
    stand.answer({ status: 304 });
    last(stand)?.send("changed");
    await untilAsked(stand, 2);
    expect(stand.asked[1]?.["if-none-match"]).toBe('"2"');
    expect(await stand.text("p[data-part]")).toBe("two");
  });

  it("is not made where nothing will change", async () => {
    const stand = await open(mainOf("", { stage: "paid" }));
    await stand.pass(3 * MINUTE);
    await stand.hide(false);
    expect([stand.asked.length, stand.sockets.length]).toEqual([0, 0]);
  });
});

describeInBrowser("the way back to the shop", () => {
  useStands();
  const back = mainOf(
    `<h1 tabindex="-1">Paid</h1><div data-return-url="${PAY}/return" data-return-seconds="8"><a href="${PAY}/return">Back</a>
      <span data-return-count data-count-text="In {seconds} s">In 8 s</span><button type="button" data-return-stop hidden>Stay</button>
      <a href="${PAY}/receipt" data-receipt target="_blank">Receipt</a></div>`,
    { stage: "paid" },
  );

  it("is taken after as many seconds as it says", async () => {
    const stand = await open(back);
    expect(await stand.text("[data-return-count]")).toBe("In 8 s");
    await stand.pass(3 * SECOND);
    expect(await stand.text("[data-return-count]")).toBe("In 5 s");
    await stand.pass(4_900);
    expect(stand.opened).toEqual([PAY]);
    await stand.page.clock.runFor(200);
    await expect.poll(() => stand.opened).toEqual([PAY, `${PAY}/return`]);
  });

  it("is not taken by those who stay, and leaves them at the link", async () => {
    const stand = await open(back);
    await stand.pass(3 * SECOND);
    await stand.page.focus("[data-return-stop]");
    await stand.page.keyboard.press("Enter");
    expect(await stand.page.evaluate("document.activeElement.textContent")).toBe("Back");
    expect(await stand.page.isVisible("[data-return-stop]")).toBe(false);
    await stand.pass(MINUTE);
    expect(await stand.text("[data-return-count]")).toBe("");
    expect(stand.opened).toEqual([PAY]);
  });

  it("is not taken by those who opened the receipt", async () => {
    const stand = await open(back);
    await stand.page.click("[data-receipt]");
    await stand.pass(MINUTE);
    expect(stand.opened).not.toContain(`${PAY}/return`);
  });

  it("is not taken in a page that nobody looks at", async () => {
    const stand = await open(back);
    await stand.hide(true);
    await stand.pass(MINUTE);
    expect(stand.opened).toEqual([PAY]);
    await stand.hide(false);
    await stand.page.clock.runFor(9 * SECOND);
    await expect.poll(() => stand.opened).toContain(`${PAY}/return`);
  });

  it("is never taken in a frame, and not announced there", async () => {
    const stand = await open(back, { isFramed: true });
    const frame = stand.page.frameLocator("iframe");
    await expect.poll(() => frame.locator("[data-return-count]").textContent()).toBe("");
    expect(await frame.locator("[data-return-stop]").isVisible()).toBe(false);
    await stand.pass(MINUTE);
    expect(stand.opened).toEqual(["/frame", PAY]);
  });

  it("is not taken again by those who came back from the shop", async () => {
    // Time runs here, so the page must not leave by itself before the link is pressed.
    const stand = await open(back.replace('seconds="8"', 'seconds="80000"'), { isHeld: false });
    await stand.page.click("a");
    await stand.page.waitForURL("**/return");
    await stand.page.goBack();
    await expect.poll(() => stand.text("[data-return-count]")).toBe("");
  });
});

describeInBrowser("what else the script adds", () => {
  useStands();

  it("leaves the choice of a language to its button: a picked option changes nothing by itself", async () => {
    const form = `<form method="get" action="${PAY}" data-language><input type="hidden" name="method" value="USDT_TRX">
      <select name="lang"><option>en</option><option>de</option></select><button>Go</button></form>`;
    const stand = await open(mainOf(""), { before: form });
    await stand.page.selectOption("select", "de");
    expect(new URL(stand.page.url()).search).toBe("");
    await stand.page.click("form button");
    await stand.page.waitForURL(`**${PAY}?method=USDT_TRX&lang=de`);
  });

  it("tells a shop that frames it how far the payment is, once for each stage", async () => {
    const initScripts = [
      "if (window.top === window) { window.heard = []; onmessage = ({ data }) => heard.push(data); }",
    ];
    const live = { pollSeconds: 3_000 };
    const stand = await open(mainOf("", live), { isFramed: true, initScripts });
    const heard = () => stand.page.evaluate("heard");
    const told = (stage: string) => ({ type: "edgetill.checkout", invoiceId: PAY.split("/")[2], stage });
    await expect.poll(heard).toEqual([told("pay")]);
    stand.answer(mainOf("", { ...live, stage: "seen" }));
    await expect.poll(() => stand.sockets.length).toBe(1);
    stand.sockets[0]?.send("changed");
    await expect.poll(heard).toEqual([told("pay"), told("seen")]);
    stand.sockets[0]?.send("changed");
    await stand.settle();
    expect(await heard()).toHaveLength(2);
  });

  it("prints", async () => {
    const stand = await open(mainOf(`<button type="button" data-print hidden>Print</button>`), {
      initScripts: ["window.printed = 0; window.print = () => { window.printed++; }"],
    });
    await stand.page.click("[data-print]");
    expect(await stand.page.evaluate("printed")).toBe(1);
  });
});

describeInBrowser("a wallet of the browser", () => {
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

  /** A wallet that answers as `window.wallet` says, and writes down what it was asked. */
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

  it("has a button with its name and picture, and is asked for nothing before that is pressed", async () => {
    const stand = await openWallet();
    expect(await stand.text("[data-wallet]")).toBe("Pay with Test Wallet");
    expect(await stand.page.getAttribute("[data-wallet] img", "src")).toBe("data:image/svg+xml,<svg/>");
    await stand.page.evaluate("announce()");
    expect(await stand.page.locator("[data-wallet]").count()).toBe(1);
    expect(await calls(stand)).toEqual([]);
  });

  it.each([["https://wallet.example/icon.png"], ["javascript:alert(1)"], ["data:text/html,<b>"], [7]])(
    "has no picture from %s, and its name is text",
    async (icon) => {
      const name = "<img src=x>\u202e$&\u0000Wallet";
      const stand = await open(mainOf(panel(TRANSFER), of), { initScripts: [walletScript({ icon, name })] });
      expect(await stand.text("[data-wallet]")).toBe("Pay with <img src=x>$&Wallet");
      expect(await stand.page.locator("[data-wallet] img").count()).toBe(0);
    },
  );

  it("sends exactly what the page says, once it is on the right chain", async () => {
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

  it("is not asked to switch where it is on the chain already, however it writes that", async () => {
    const stand = await openWallet(TRANSFER, "wallet.chain = '0x089'");
    await press(stand);
    await status(stand, "Sent");
    expect(await methods(stand)).toEqual(["eth_requestAccounts", "eth_chainId", "eth_sendTransaction"]);
  });

  it.each([
    ["does not know the chain", "wallet.errors.wallet_switchEthereumChain = { code: 4902 }"],
    ["says that it switched and did not", "wallet.switchedTo = '0x1'"],
    ["says no chain at all", "wallet.switchedTo = 'polygon'"],
  ])("that %s is sent nothing, and the payer is told to switch", async (_, before) => {
    const stand = await openWallet(TRANSFER, before);
    await press(stand);
    await status(stand, "Switch Test Wallet to Polygon");
    expect(await sent(stand)).toEqual([]);
    await stand.page.evaluate("wallet.chain = '0x89'");
    await press(stand);
    await status(stand, "Sent");
  });

  it.each(["eth_requestAccounts", "wallet_switchEthereumChain", "eth_sendTransaction"])(
    "whose owner says no to %s can be asked again",
    async (method) => {
      const stand = await openWallet(TRANSFER, `wallet.errors.${method} = { code: 4001, message: "no" }`);
      await press(stand);
      await status(stand, "Not sent by Test Wallet");
      await stand.page.evaluate("wallet.errors = {}");
      await press(stand);
      await status(stand, "Sent");
    },
  );

  it("sends once, however often its button is pressed, before and after", async () => {
    const stand = await openWallet(TRANSFER, "wallet.waits.eth_sendTransaction = true");
    await stand.page.dblclick("[data-wallet]");
    await status(stand, "Confirm in Test Wallet");
    await expect.poll(async () => (await sent(stand)).length).toBe(1);
    await press(stand);
    expect(await stand.page.getAttribute("[data-wallet]", "aria-disabled")).toBe("true");
    await stand.page.evaluate("wallet.goOn()");
    await status(stand, "Sent");
    await press(stand);
    // Nor where the part was written anew, which says again that it was sent.
    stand.answer(mainOf(panel({ ...TRANSFER, data: "0x02" }), of));
    await stand.hide(false);
    await untilAsked(stand, 1);
    expect(await stand.text("[data-wallet-status]")).toBe("Sent");
    await press(stand);
    await stand.settle();
    expect(await sent(stand)).toHaveLength(1);
  });

  it("can send the rest once the page says that some has come", async () => {
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

  it("sends what the page says when it is asked to, not what stood there when its button was pressed", async () => {
    const stand = await openWallet(TRANSFER, "wallet.waits.eth_requestAccounts = true");
    await press(stand);
    await status(stand, "Confirm in Test Wallet");
    stand.answer(mainOf(panel({ ...TRANSFER, data: "0x02" }), of));
    await stand.hide(false);
    await untilAsked(stand, 1);
    // The part was swapped: its button is there again, and still not to be pressed twice.
    expect(await stand.page.getAttribute("[data-wallet]", "aria-disabled")).toBe("true");
    await stand.page.evaluate("wallet.goOn()");
    await status(stand, "Sent");
    expect(await sent(stand)).toMatchObject([["eth_sendTransaction", { data: "0x02" }]]);
  });

  it.each([
    ["has nothing to be paid any more", `<h1 tabindex="-1">Expired</h1>`, "expired"],
    ["asks for money on another chain", panel({ ...TRANSFER, chainId: "0x1" }), "pay"],
    ["says what no wallet could send", panel({ ...TRANSFER, to: "somebody" }), "pay"],
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

  it("that is none is not shown", async () => {
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
