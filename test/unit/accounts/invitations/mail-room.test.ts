import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MailRoom, mailTimes, postponed } from "../../../../src/accounts/invitations/mail-room.ts";
import { DAY_MS, MINUTE_MS } from "../../../../src/lib/time.ts";
import { RUNS } from "../../../support/property-runs.ts";

const NOW = 1_800_000_000_000;
const ROOM: MailRoom = {
  merchantFullSinceMs: null,
  userFullSinceMs: null,
  mailboxFullSinceMs: null,
  merchantLastDueMs: null,
  userLastDueMs: null,
  mailboxLastDueMs: null,
};

const mailboxOf = ({ mailboxFullSinceMs, mailboxLastDueMs }: MailRoom) => ({ mailboxFullSinceMs, mailboxLastDueMs });

describe("an invitation email", () => {
  it.each<[string, Partial<MailRoom>, number | null]>([
    ["goes out at once while no limit is reached", {}, null],
    [
      "does not wait behind other users' queued emails for the merchant until the merchant's limit is reached",
      { merchantLastDueMs: NOW + DAY_MS },
      null,
    ],
    ["waits until the merchant's window moves on", { merchantFullSinceMs: NOW - MINUTE_MS }, DAY_MS - MINUTE_MS],
    ["waits until the sender's window moves on", { userFullSinceMs: NOW - MINUTE_MS }, DAY_MS - MINUTE_MS],
    [
      "waits for the later of the merchant's and the sender's window",
      { merchantFullSinceMs: NOW - MINUTE_MS, userFullSinceMs: NOW - 2 * MINUTE_MS },
      DAY_MS - MINUTE_MS,
    ],
    ["waits behind the sender's queued emails, at 200 a day", { userLastDueMs: NOW + DAY_MS }, DAY_MS + DAY_MS / 200],
    [
      "waits behind the merchant's queued emails, at 500 a day, once the merchant's limit is reached",
      { merchantFullSinceMs: NOW, merchantLastDueMs: NOW + 2 * DAY_MS },
      2 * DAY_MS + Math.ceil(DAY_MS / 500),
    ],
    ["goes out at once when the last queued email is already due", { userLastDueMs: NOW, mailboxLastDueMs: NOW }, null],
    ["waits until the mailbox's window moves on", { mailboxFullSinceMs: NOW - MINUTE_MS }, DAY_MS - MINUTE_MS],
    [
      "waits behind the queued emails to the same mailbox, at 10 a day",
      { mailboxLastDueMs: NOW + DAY_MS },
      DAY_MS + DAY_MS / 10,
    ],
  ])("%s", (_, changes, waitMs) => {
    const times = mailTimes({ ...ROOM, ...changes }, NOW);
    expect(times).toMatchObject(
      waitMs === null ? { mailedAtMs: NOW, mailDueAtMs: null } : { mailedAtMs: null, mailDueAtMs: NOW + waitMs },
    );
  });

  it("waits in the longer of two queues: the sender's and the mailbox's", () => {
    const time = fc.option(fc.integer({ min: NOW - DAY_MS, max: NOW + DAY_MS }), { nil: null });
    const room = fc.record({
      merchantFullSinceMs: time,
      userFullSinceMs: time,
      mailboxFullSinceMs: time,
      merchantLastDueMs: time,
      userLastDueMs: time,
      mailboxLastDueMs: time,
    });
    fc.assert(
      fc.property(room, (all) => {
        const both = mailTimes(all, NOW);
        const sender = mailTimes({ ...all, mailboxFullSinceMs: null, mailboxLastDueMs: null }, NOW).mailDueAtMs ?? NOW;
        const mailbox = mailTimes({ ...ROOM, ...mailboxOf(all) }, NOW).mailDueAtMs ?? NOW;
        expect(both.mailDueAtMs ?? NOW).toBe(Math.max(sender, mailbox));
        expect(both.waitsForMailbox).toBe(mailbox > sender);
        expect(both.mailedAtMs === null).toBe(both.mailDueAtMs !== null);
      }),
      { numRuns: RUNS },
    );
  });

  it("is one of at most 200 that become due in a day, even if many are created at once", () => {
    const count = fc.integer({ min: 201, max: 1_000 });
    fc.assert(
      fc.property(count, (many) => {
        const due: number[] = [];
        for (let i = 0; i < many; i++) {
          const { mailDueAtMs } = mailTimes({ ...ROOM, userFullSinceMs: NOW, userLastDueMs: due.at(-1) ?? null }, NOW);
          due.push(mailDueAtMs ?? 0);
        }
        expect((due[200] ?? 0) - (due[0] ?? 0)).toBeGreaterThanOrEqual(DAY_MS);
        expect(due[0]).toBe(NOW + DAY_MS);
      }),
      { numRuns: Math.min(RUNS, 20) },
    );
  });

  it("is postponed if it is due but the limit is reached", () => {
    expect(postponed({ ...ROOM, userLastDueMs: NOW, mailboxLastDueMs: NOW })).toBeNull();
    const full = { ...ROOM, merchantFullSinceMs: NOW, userFullSinceMs: NOW - 1, mailboxFullSinceMs: NOW - 2 };
    expect(postponed(full)).toEqual({ mailDueAtMs: NOW + DAY_MS, waitsForMailbox: false });
    expect(postponed({ ...full, mailboxFullSinceMs: NOW + 1 })).toEqual({
      mailDueAtMs: NOW + DAY_MS + 1,
      waitsForMailbox: true,
    });
  });
});
