import { expect, it } from "vitest";
import { describeInBrowser } from "./harness.ts";
import { mainOf, SERVER_MS, type Stand } from "./script-stand.ts";
import { MINUTE, open, SECOND, untilAsked, useStands } from "./stands-harness.ts";

describeInBrowser("an update of the state", () => {
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

  it("replaces only the parts that changed", async () => {
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

  it("with equal content changes nothing, even if the script has changed the page", async () => {
    const stand = await open(mainOf(parts("1.5"), of));
    await stand.page.evaluate(`window.changes = 0;
      new MutationObserver((all) => { changes += all.filter(({ type }) => type === "childList").length; })
        .observe(document.body, { childList: true, subtree: true })`);
    stand.answer(mainOf(parts("1.5"), { ...of, nowMs: SERVER_MS + 6_000 }));
    await answered(stand, 1);
    expect(await stand.page.evaluate("changes")).toBe(0);
  });

  it("keeps what was typed, opened, selected and focused", async () => {
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

  it("to a different stage moves the focus to its heading and is announced", async () => {
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
    // The focus outside <main> must not move.
    expect(await stand.page.evaluate("document.activeElement.textContent")).toBe("Shop");
    await stand.pass(3 * MINUTE);
    expect(stand.asked).toHaveLength(2);
  });

  it("to another heading of the same stage moves the focus to it, is announced, and opens nothing that the payer did not open", async () => {
    const stand = await open(mainOf(parts("1.5"), of));
    await stand.page.click("[data-part=codes] summary");
    await stand.page.focus("[data-copy]");
    const folded = `<h1 tabindex="-1">Wait</h1><details class="again"><summary>Anyway</summary>${parts("1.5")}</details>`;
    stand.answer(mainOf(folded.replace('<h1 tabindex="-1">Pay</h1>', ""), { ...of, stageText: "Wait" }));
    await answered(stand, 1);
    expect(await stand.page.evaluate("document.activeElement.textContent")).toBe("Wait");
    expect(await stand.text("#say")).toBe("Wait");
    expect(await stand.page.locator("details[open]").count()).toBe(0);
  });

  it("about a claimed transaction is shown and announced, even if the update also shows a new stage", async () => {
    const claimed = (text: string, more: object = {}) =>
      mainOf(`<p class="note" data-part="claim">${text}</p>${parts("1.5")}`, { ...of, claimText: text, ...more });
    const stand = await open(claimed("The shop decides"));
    await stand.page.click("#claim summary");
    await stand.page.fill("#hash", "0xabc");
    stand.answer(claimed("It counts"));
    await answered(stand, 1);
    expect([await stand.text(".note"), await stand.text("#say")]).toEqual(["It counts", "It counts"]);
    expect(await stand.page.inputValue("#hash")).toBe("0xabc");
    stand.answer(claimed("It is gone", { stage: "expired", stageText: "Over" }));
    await answered(stand, 2);
    expect([await stand.text(".note"), await stand.text("#say")]).toEqual(["It is gone", "Over It is gone"]);
  });

  it("runs no script, and is ignored without a <main>", async () => {
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

  it("requests the state when notified, once after connecting, and otherwise only every minute", async () => {
    const stand = await open(main);
    await connected(stand);
    // Changes that occurred while the page was loading were not announced.
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

  it.each([
    ["confirmations are counted", "<progress></progress>"],
    ["a claimed transaction is not a payment yet", `<p class="note" data-part="claim"></p>`],
  ])("requests the state every few seconds while %s, because no message announces such progress", async (_, inner) => {
    const stand = await open(mainOf(inner, { pollSeconds: 5 }));
    await connected(stand);
    for (let count = 1; count <= 3; count++) {
      await stand.pass(6 * SECOND);
      await untilAsked(stand, count);
    }
  });

  it("when lost, is replaced by polling, reconnects after growing pauses, and then requests the state at once", async () => {
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

  it("does not delay the next request when it is lost repeatedly", async () => {
    const stand = await open(mainOf("<p></p>", { pollSeconds: 30, hasSocket: true }));
    await connected(stand);
    stand.letIn(false);
    await last(stand)?.close();
    await stand.pass(34 * SECOND);
    await untilAsked(stand, 1);
  });

  it("is replaced when it stops answering pings", async () => {
    const stand = await open(main);
    await connected(stand);
    last(stand)?.onMessage(() => {});
    await stand.pass(MINUTE + SECOND);
    await stand.pass(SECOND);
    await connected(stand, 2);
  });

  it("does not poll or reconnect while the page is hidden, but handles messages, and requests at once when shown again", async () => {
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
    "reloads the page when the invoice is gone (%i), so that no customer pays from the old page",
    async (status) => {
      // Only the socket triggers requests here: with this interval the page does not poll.
      const stand = await open(mainOf("", { pollSeconds: 3_000 }));
      await connected(stand);
      stand.answer({ status });
      stand.sockets[0]?.send("changed");
      await expect.poll(() => stand.opened.length).toBe(2);
      await connected(stand, 2);
    },
  );

  it("respects the server's Retry-After, whatever is announced before it ends", async () => {
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

  it("polls after growing pauses while the server fails", async () => {
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

  it("shows how old its state is after two failed requests, until a request succeeds", async () => {
    const amount = `<p class="stale note" data-stale hidden>Since <time></time>.</p><b>1.5</b>`;
    const stand = await open(mainOf(amount, { pollSeconds: 5, hasSocket: false }), { isHeld: true });
    const note = stand.page.locator("[data-stale]");
    stand.answer({ status: 304 });
    await stand.pass(6 * SECOND);
    await untilAsked(stand, 1);
    stand.answer({ status: 503 });
    await stand.pass(6 * SECOND);
    await untilAsked(stand, 2);
    expect(await note.isVisible()).toBe(false);
    await stand.pass(12 * SECOND);
    await untilAsked(stand, 3);
    expect(await note.isVisible()).toBe(true);
    // The note shows the time of the last answer by the server's clock: the page was loaded at midnight UTC.
    const saidMs = Date.parse((await note.locator("time").getAttribute("datetime")) ?? "");
    expect(Math.round((saidMs - SERVER_MS) / SECOND)).toBeGreaterThanOrEqual(5);
    expect(Math.round((saidMs - SERVER_MS) / SECOND)).toBeLessThanOrEqual(7);
    expect(await note.textContent()).toMatch(/^Since \d{1,2}:\d\d (AM|PM)\.$/);
    expect([await stand.text("#say"), await stand.text("b")]).toEqual([await note.textContent(), "1.5"]);
    stand.answer({ status: 304 });
    await stand.pass(23 * SECOND);
    await untilAsked(stand, 4);
    expect(await note.isVisible()).toBe(false);
  });

  it("sends the ETag of its state, and accepts a 304", async () => {
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

  it("is not opened when nothing can change", async () => {
    const stand = await open(mainOf("", { stage: "paid" }));
    await stand.pass(3 * MINUTE);
    await stand.hide(false);
    expect([stand.asked.length, stand.sockets.length]).toEqual([0, 0]);
  });
});
