// A browser's stored copy of a payer's page: it contains only what may be shown again, for a limited time, and is valid only with our own HMAC.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkoutPage } from "../../../../src/checkout/pay/checkout-page.tsx";
import { copyOf, isKept, printCopy, readCopy, secondsLeft, viewOf } from "../../../../src/checkout/pay/shown-copy.ts";
import { parseKeyring } from "../../../../src/lib/keyring.ts";
import { checkoutViewOf, chromeOf, NOW, PAYMENT, STAGES } from "../../../support/checkout-views.ts";

const keyring = (text: string) => {
  const keys = parseKeyring("TEST", text);
  if (!keys.ok) throw new Error(keys.error);
  return keys.value;
};
const KEYS = keyring("k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
const OTHERS = keyring("k1:MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
const VIEW = checkoutViewOf("pay");
const of = (nowMs: number) => ({ invoiceId: VIEW.invoiceId, nowMs });

function copyAt(nowMs: number) {
  const copy = copyOf(VIEW, "mer_1", nowMs);
  if (copy === undefined) throw new Error("no copy of a page that asks for money");
  return copy;
}

function cookieAt(nowMs: number): string {
  const text = printCopy(KEYS, copyAt(nowMs));
  if (text === undefined) throw new Error("too long for a cookie");
  return text;
}

describe("a copy of a payer's page", () => {
  it.each(STAGES.filter((stage) => stage !== "pay"))("is not kept at the stage %s", (stage) => {
    expect(copyOf(checkoutViewOf(stage), "mer_1", NOW)).toBeUndefined();
  });

  it("is not kept once anything has arrived or been claimed, so that nobody is asked for the full amount again", () => {
    expect(copyOf({ ...VIEW, payments: [PAYMENT] }, "mer_1", NOW)).toBeUndefined();
    const claim = { id: "clm_1", isGood: false, text: "claimFound" };
    expect(copyOf(Object.assign({}, VIEW, { claim }), "mer_1", NOW)).toBeUndefined();
  });

  it("shows the coin, the amount, the address and the deadline again, and offers nothing else", () => {
    const copy = readCopy(KEYS, cookieAt(NOW), of(NOW + 60_000));
    if (copy === undefined) throw new Error("it was not read");
    const view = viewOf(copy);
    expect(view).toMatchObject({ stage: "pay", total: VIEW.total, title: VIEW.title });
    expect(view.method).toEqual({ ...VIEW.method, transfer: null });
    expect([view.canChoose, view.canReturn, view.choices, view.claimNetworks]).toEqual([false, false, [], []]);
    const html = String(checkoutPage({ chrome: chromeOf("en"), view, note: null, shownAtMs: copy.shownAtMs }));
    expect(html.replaceAll(/<[^>]*>/g, "")).toContain(VIEW.method?.address);
    expect(html).toContain(`data-stale="${NOW}"`);
    expect(html).not.toContain('data-stale="" hidden');
  });

  it("is shown for five minutes, or until its quote ends, if that is earlier", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 900_000 }),
        fc.integer({ min: -120_000, max: 900_000 }),
        (quoteMs, laterMs) => {
          const copy = copyAt(NOW);
          const method = { ...copy.method, deadlineMs: NOW + quoteMs };
          const mayShow = secondsLeft({ shownAtMs: NOW, method }, NOW + laterMs) > 0;
          if (laterMs > Math.min(300_000, quoteMs) - 1_000) expect(mayShow).toBe(false);
          else expect(mayShow).toBe(laterMs >= -60_000);
        },
      ),
    );
  });

  it("is valid for one invoice only", () => {
    expect(readCopy(KEYS, cookieAt(NOW), { invoiceId: "inv_01JAB2C3D4E5F6G7H8J9KMNPQS", nowMs: NOW })).toBeUndefined();
  });

  it("is ignored without the deployment's key, or if any character was changed", () => {
    const text = cookieAt(NOW);
    expect(readCopy(KEYS, text, of(NOW))).toEqual(copyAt(NOW));
    expect(readCopy(OTHERS, text, of(NOW))).toBeUndefined();
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), fc.constantFrom(..."0aZ_.-"), (at, sign) => {
        const changed = `${text.slice(0, at)}${sign}${text.slice(at + 1)}`;
        // The last character of base64 without padding has unused bits.
        if (changed !== text && at < text.length - 1) expect(readCopy(KEYS, changed, of(NOW))).toBeUndefined();
      }),
    );
  });

  it("is not sent again within a minute while the page stays the same", () => {
    expect(isKept(undefined, copyAt(NOW))).toBe(false);
    expect(isKept(copyAt(NOW), copyAt(NOW + 59_000))).toBe(true);
    expect(isKept(copyAt(NOW), copyAt(NOW + 60_000))).toBe(false);
    const cheaper = copyOf({ ...VIEW, method: VIEW.method && { ...VIEW.method, amount: "1" } }, "mer_1", NOW);
    expect(cheaper && isKept(copyAt(NOW), cheaper)).toBe(false);
  });

  it("is not sent if it is too large for a browser to keep", () => {
    const copy = copyOf({ ...VIEW, title: "\u{1F9C9}".repeat(1_000) }, "mer_1", NOW);
    expect(copy && printCopy(KEYS, copy)).toBeUndefined();
  });
});
