// Tests each function of the checkout pages' script by itself. Other tests in this folder run the script on the real pages.
import { expect, it } from "vitest";
import { describeInBrowser } from "./harness.ts";
import { mainOf, PAY, SERVER_MS } from "./script-stand.ts";
import { MINUTE, open, SECOND, untilAsked, useStands } from "./stands-harness.ts";

describeInBrowser("the countdown", () => {
  useStands();
  const time = (ms: number) => `<p data-part="deadline"><time data-deadline="${ms}">then</time></p>`;

  it.each([
    ["ahead", SERVER_MS + 300 * MINUTE],
    ["behind", SERVER_MS - 300 * MINUTE],
  ])("uses the server's clock, even if the payer's machine is hours %s", async (_, machineMs) => {
    const stand = await open(mainOf(time(SERVER_MS + 65 * SECOND)), { machineMs });
    expect(await stand.text("time")).toBe("01:05");
  });

  it("uses the server's clock even if the machine's clock is hours ahead and keeps running", async () => {
    const stand = await open(mainOf(time(SERVER_MS + 120 * MINUTE)), {
      isHeld: false,
      initScripts: ["const real = Date.now; Date.now = () => real() + 5 * 3600_000;"],
    });
    // The tolerance of half an hour allows for the slowest machine, and is a tenth of the difference between the clocks.
    expect(await stand.text("time")).toMatch(/^(2:00:00|1:[345]\d:\d\d)$/);
  });

  it("counts seconds, shows hours if there are any, and stops at zero", async () => {
    const stand = await open(mainOf(time(SERVER_MS + 3_600 * SECOND + 1_500)));
    expect(await stand.text("time")).toBe("1:00:02");
    await stand.pass(SECOND);
    expect(await stand.text("time")).toBe("1:00:01");
    await stand.pass(2 * SECOND);
    expect(await stand.text("time")).toBe("59:59");
    await stand.page.clock.fastForward(60 * MINUTE);
    expect(await stand.text("time")).toBe("00:00");
  });

  it("requests the state at zero, and again after growing pauses while nothing changes", async () => {
    // Pauses normally vary by a quarter; here they do not vary.
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
    // The requests are sent at 0, 1, 3, 7, 15 and 31 seconds, and each is noticed within a second.
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

  it("copies the exact text, confirms this to screen readers and on the button without resizing it, and restores its label later", async () => {
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

  it("copies without the clipboard API, and keeps the focus", async () => {
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

  it("shows what to do instead if copying is impossible", async () => {
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

  it("shows entries that match every word, ignoring case and accents, and hides empty groups", async () => {
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

  it("focuses the first match on Enter, and does not submit the form", async () => {
    const stand = await open(mainOf(`<form action="/wrong">${list.replace(/<form[^>]*>/, "")}`));
    await stand.page.fill("[data-search]", "bitcoin");
    await stand.page.press("[data-search]", "Enter");
    expect(await stand.page.evaluate("document.activeElement.value")).toBe("c");
    expect(stand.opened).toEqual([PAY]);
  });

  it("continues to filter after the list was replaced", async () => {
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

describeInBrowser("the automatic return to the shop", () => {
  useStands();
  const back = mainOf(
    `<h1 tabindex="-1">Paid</h1><div data-return-url="${PAY}/return" data-return-seconds="8"><a href="${PAY}/return">Back</a>
      <span data-return-count data-count-text="In {seconds} s">In 8 s</span><button type="button" data-return-stop hidden>Stay</button>
      <a href="${PAY}/receipt" data-receipt target="_blank">Receipt</a></div>`,
    { stage: "paid" },
  );

  it("happens after the announced seconds", async () => {
    const stand = await open(back);
    expect(await stand.text("[data-return-count]")).toBe("In 8 s");
    await stand.pass(3 * SECOND);
    expect(await stand.text("[data-return-count]")).toBe("In 5 s");
    await stand.pass(4_900);
    expect(stand.opened).toEqual([PAY]);
    await stand.page.clock.runFor(200);
    await expect.poll(() => stand.opened).toEqual([PAY, `${PAY}/return`]);
  });

  it("is cancelled by the stop button, which moves the focus to the link", async () => {
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

  it("is cancelled when the receipt is opened", async () => {
    const stand = await open(back);
    await stand.page.click("[data-receipt]");
    await stand.pass(MINUTE);
    expect(stand.opened).not.toContain(`${PAY}/return`);
  });

  it("waits while the page is hidden", async () => {
    const stand = await open(back);
    await stand.hide(true);
    await stand.pass(MINUTE);
    expect(stand.opened).toEqual([PAY]);
    await stand.hide(false);
    await stand.page.clock.runFor(9 * SECOND);
    await expect.poll(() => stand.opened).toContain(`${PAY}/return`);
  });

  it("does not happen in a frame, and is not announced there", async () => {
    const stand = await open(back, { isFramed: true });
    const frame = stand.page.frameLocator("iframe");
    await expect.poll(() => frame.locator("[data-return-count]").textContent()).toBe("");
    expect(await frame.locator("[data-return-stop]").isVisible()).toBe(false);
    await stand.pass(MINUTE);
    expect(stand.opened).toEqual(["/frame", PAY]);
  });

  it("does not happen again after going back from the shop", async () => {
    // The clock is running, so the automatic return is far in the future: the link must be pressed first.
    const stand = await open(back.replace('seconds="8"', 'seconds="80000"'), { isHeld: false });
    await stand.page.click("a");
    await stand.page.waitForURL("**/return");
    await stand.page.goBack();
    await expect.poll(() => stand.text("[data-return-count]")).toBe("");
  });
});

describeInBrowser("the script also", () => {
  useStands();

  it("changes the language only when its button is pressed, not when an option is selected", async () => {
    const form = `<form method="get" action="${PAY}" data-language><input type="hidden" name="method" value="USDT_TRX">
      <select name="lang"><option>en</option><option>de</option></select><button>Go</button></form>`;
    const stand = await open(mainOf(""), { before: form });
    await stand.page.selectOption("select", "de");
    expect(new URL(stand.page.url()).search).toBe("");
    await stand.page.click("form button");
    await stand.page.waitForURL(`**${PAY}?method=USDT_TRX&lang=de`);
  });

  it("posts each stage of the payment once to a shop that frames the page", async () => {
    const initScripts = [
      "if (window.top === window) { window.heard = []; onmessage = ({ data }) => heard.push(data); }",
    ];
    const live = { pollSeconds: 3_000 };
    const stand = await open(mainOf("", live), { isFramed: true, initScripts });
    const heard = () => stand.page.evaluate("heard");
    const message = (stage: string) => ({ type: "edgetill.checkout", invoiceId: PAY.split("/")[2], stage });
    await expect.poll(heard).toEqual([message("pay")]);
    stand.answer(mainOf("", { ...live, stage: "seen" }));
    await expect.poll(() => stand.sockets.length).toBe(1);
    stand.sockets[0]?.send("changed");
    await expect.poll(heard).toEqual([message("pay"), message("seen")]);
    stand.sockets[0]?.send("changed");
    await stand.settle();
    expect(await heard()).toHaveLength(2);
  });

  it("reports from a frame over a shop when it is ready, how the payment progresses in BTCPay's terms, and when to close it", async () => {
    const initScripts = [
      "if (window.top === window) { window.heard = []; onmessage = ({ data }) => heard.push(data.status ?? data.stage ?? data); }",
    ];
    const before = `<button type="button" data-close hidden>Close</button>`;
    const live = { pollSeconds: 3_000 };
    const stand = await open(mainOf("", live), { isFramed: true, initScripts, before });
    const heard = () => stand.page.evaluate("heard");
    await expect.poll(heard).toEqual(["loaded", "pay"]);
    stand.answer(mainOf("", { ...live, stage: "seen" }).replace("<main ", '<main data-status="Processing" '));
    await expect.poll(() => stand.sockets.length).toBe(1);
    stand.sockets[0]?.send("changed");
    await expect.poll(heard).toEqual(["loaded", "pay", "Processing"]);
    await stand.page.frameLocator("iframe").locator("[data-close]").click();
    await expect.poll(heard).toEqual(["loaded", "pay", "Processing", "close"]);
    const alone = await open(mainOf(""), { initScripts, before });
    expect(await alone.page.isVisible("[data-close]")).toBe(false);
  });

  it("prints when the print button is pressed", async () => {
    const stand = await open(mainOf(`<button type="button" data-print hidden>Print</button>`), {
      initScripts: ["window.printed = 0; window.print = () => { window.printed++; }"],
    });
    await stand.page.click("[data-print]");
    expect(await stand.page.evaluate("printed")).toBe(1);
  });
});
