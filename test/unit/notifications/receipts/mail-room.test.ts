import { expect, it } from "vitest";
import { DAY_MS } from "../../../../src/lib/time.ts";
import { mailboxOf, roomAtMs } from "../../../../src/notifications/receipts/mail-room.ts";

const NOW = 1_800_000_000_000;

it.each([
  ["when the merchant's window moves on", { merchantFullSinceMs: NOW - 5, mailboxFullSinceMs: null }, DAY_MS - 5],
  ["when the mailbox's window moves on", { merchantFullSinceMs: null, mailboxFullSinceMs: NOW - 5 }, DAY_MS - 5],
  ["when the second window moves on", { merchantFullSinceMs: NOW - 5, mailboxFullSinceMs: NOW - 9 }, DAY_MS - 5],
  ["at once if neither window is full", { merchantFullSinceMs: null, mailboxFullSinceMs: null }, 0],
])("a receipt is sent %s", (_, room, waitMs) => {
  expect(roomAtMs(room, NOW)).toBe(NOW + waitMs);
});

it("a mailbox has the same hash in upper and lower case", () => {
  expect(mailboxOf("Ann@Example.com")).toBe(mailboxOf("ann@example.com"));
  expect(mailboxOf("ann@example.com")).toMatch(/^[0-9a-f]{64}$/);
});
