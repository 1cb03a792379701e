import { describe, expect, it } from "vitest";
import {
  messagesAbout,
  type NewsRow,
  pollGapMs,
  teamHeaders,
  teamMemberIn,
} from "../../../../src/checkout/live/team-socket.ts";

const row = (id: string, of: Partial<NewsRow>): NewsRow => ({
  id,
  type: "invoice.updated",
  invoiceId: null,
  sequence: null,
  status: null,
  about: null,
  ...of,
});

describe("messages about events", () => {
  it.each([
    ["payment.unmatched", "pay_1", [["payment:view", { type: "unmatched", eventId: "evt_1", paymentId: "pay_1" }]]],
    ["payment.unmatched", null, [["payment:view", { type: "unmatched", eventId: "evt_1", paymentId: null }]]],
    ["wallet.updated", "wal_1", [["wallet:view", { type: "wallet", eventId: "evt_1", walletId: "wal_1" }]]],
    [
      "webhook.endpoint_disabled",
      "whk_1",
      [["webhook:view", { type: "endpoint", eventId: "evt_1", webhookId: "whk_1" }]],
    ],
    ["team.member_removed", null, []],
    ["api_key.created", null, []],
    ["ping", "whk_1", []],
  ])("for a %s event about %s go only to members who may view its object", (type, about, wanted) => {
    expect(messagesAbout([row("evt_1", { type, about })]).map(({ view, body }) => [view, body])).toEqual(wanted);
  });

  it("contain only the last change to each invoice, in the order of those changes", () => {
    const of = (invoiceId: string, sequence: number) => ({ invoiceId, sequence, status: "PAID" as const });
    const rows = [row("evt_1", of("inv_1", 1)), row("evt_2", of("inv_2", 1)), row("evt_3", of("inv_1", 2))];
    expect(messagesAbout(rows).map(({ body }) => body)).toEqual([
      { type: "invoice", eventId: "evt_2", invoiceId: "inv_2", status: "PAID", sequence: 1 },
      { type: "invoice", eventId: "evt_3", invoiceId: "inv_1", status: "PAID", sequence: 2 },
    ]);
  });
});

describe("the delay until events are read again", () => {
  const NOW_MS = 1_000_000_000;

  it.each([
    [0, 5_000],
    [20_000, 5_000],
    [40_000, 10_000],
    [120_000, 30_000],
    [86_400_000, 30_000],
  ])("%i ms after the last message is %i ms", (quietMs, gapMs) => {
    const sockets = [{ newsAtMs: NOW_MS - quietMs }, { newsAtMs: 0 }];
    expect(pollGapMs(sockets, NOW_MS)).toBe(gapMs);
  });
});

describe("a member in a request's headers", () => {
  it("is read back unchanged, and a request without these headers has no member", () => {
    const member = { memberId: "mem_1", tokenHash: "a", views: ["invoice:view"], after: "" } as const;
    expect(teamMemberIn(new Headers(teamHeaders(member)))).toEqual(member);
    expect(teamMemberIn(new Headers({ upgrade: "websocket" }))).toBeUndefined();
  });
});
