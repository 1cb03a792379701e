import { expect, it } from "vitest";
import { DAY_MS } from "../../../../src/lib/time.ts";
import { mailboxOf, roomAtMs } from "../../../../src/notifications/receipts/mail-room.ts";

const NOW = 1_800_000_000_000;

it.each([
  ["the merchant's window moves on", { merchantFullSinceMs: NOW - 5, mailboxFullSinceMs: null }, DAY_MS - 5],
  ["the mailbox's window moves on", { merchantFullSinceMs: null, mailboxFullSinceMs: NOW - 5 }, DAY_MS - 5],
  ["the later of the two windows moves on", { merchantFullSinceMs: NOW - 5, mailboxFullSinceMs: NOW - 9 }, DAY_MS - 5],
  ["now, when there is room again", { merchantFullSinceMs: null, mailboxFullSinceMs: null }, 0],
])("a receipt past a limit waits until %s", (_, room, waitMs) => {
  expect(roomAtMs(room, NOW)).toBe(NOW + waitMs);
});

it("a mailbox has one hash, in upper or lower case", () => {
  expect(mailboxOf("Ann@Example.com")).toBe(mailboxOf("ann@example.com"));
  expect(mailboxOf("ann@example.com")).toMatch(/^[0-9a-f]{64}$/);
});
