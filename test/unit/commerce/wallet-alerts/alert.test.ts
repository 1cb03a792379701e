import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { User } from "../../../../src/accounts/users/user.ts";
import {
  type Audience,
  alertMail,
  isMailOnly,
  type ReportedChange,
} from "../../../../src/commerce/wallet-alerts/alert.ts";
import { isWalletOpen, usableFrom, type Wallet } from "../../../../src/commerce/wallet-records/wallet.ts";
import { fingerprintOf, walletFacts } from "../../../../src/commerce/wallet-records/wallet-facts.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { DIRECT_WALLET } from "../wallets/direct-wallet.ts";

const NOW_MS = Date.parse("2026-11-21T12:00:00.000Z");
const ADDRESS = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
// BIP84, "Test vectors": account 0.
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const TOKEN = "t".repeat(43);

const wallet: Wallet = { ...DIRECT_WALLET, address: ADDRESS };
const keyed: Wallet = { ...wallet, walletType: "XPUB_WALLET", address: null, xpub: ZPUB };

function mailOf(change: ReportedChange, token: string | null = null, isIntact = true) {
  const audience: Audience = { merchantName: "Shop", author: "ada@example.com", readers: [] };
  const reader = { userId: "usr_01M7Y116S5004EM2R6G33SCWPC", email: "bob@example.com", token } as const;
  const context = { publicUrl: "https://pay.example", nowMs: NOW_MS, isIntact: () => isIntact };
  return alertMail(change, audience, reader, context);
}

describe("the email about a change to a wallet", () => {
  it("names the change, the wallet, who made it and when, and the values before and after", () => {
    const after = { ...wallet, isEnabled: false };
    const mail = mailOf({ action: "wallet.updated", before: wallet, after });
    expect([mail.to, mail.subject]).toEqual(["bob@example.com", "A wallet of Shop was changed"]);
    const print = fingerprintOf(wallet);
    expect(mail.text).toContain(
      "The wallet for BTC on BTC of Shop was changed by ada@example.com at 2026-11-21T12:00:00.000Z.",
    );
    expect(mail.text).toContain(`Before: ${ADDRESS}, fingerprint ${print}, enabled, 3 confirmations\n`);
    expect(mail.text).toContain(`Now: ${ADDRESS}, fingerprint ${print}, disabled, 3 confirmations\n`);
  });

  it('shows both wallets when one replaces another, and "none" when there is none', () => {
    const old = { ...wallet, address: "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g" };
    const { text } = mailOf({ action: "wallet.created", before: old, after: wallet });
    for (const each of [old, wallet]) expect(text).toContain(`${each.address}, fingerprint ${fingerprintOf(each)}`);
    expect(mailOf({ action: "wallet.created", before: undefined, after: wallet }).text).toContain("Before: none\n");
    expect(mailOf({ action: "wallet.deleted", before: wallet, after: undefined }).text).toContain("Now: none\n");
  });

  it("never shows an extended key in full, or the address of an altered row", () => {
    const change: ReportedChange = { action: "wallet.created", before: keyed, after: { ...keyed, isEnabled: false } };
    const { text, html } = mailOf(change);
    expect(text).toContain("extended key zpub6rFR...tZYs, fingerprint");
    expect(`${text}${html}`).not.toContain(ZPUB.slice(8, 20));
    const altered = mailOf({ action: "wallet.updated", before: wallet, after: wallet }, null, false);
    expect(altered.text).not.toContain(ADDRESS);
    expect(altered.text).toContain("its database row was altered");
  });

  it("shows when the wallet comes into use, if that is in the future", () => {
    const change = (usableFromMs: number): ReportedChange => ({
      action: "wallet.created",
      before: undefined,
      after: { ...wallet, usableFromMs },
    });
    expect(mailOf(change(NOW_MS + HOUR_MS)).text).toContain("in use from 2026-11-21T13:00:00.000Z");
    expect(mailOf(change(NOW_MS)).text).not.toContain("in use from");
  });

  it("tells a reader without a link what to do", () => {
    const advised = (after: Wallet | undefined) => mailOf({ action: "wallet.updated", before: wallet, after }).text;
    expect(advised(wallet)).toContain("sign in, disable the wallet, and check");
    expect(advised({ ...wallet, isEnabled: false })).toContain("sign in, check your wallets, and check");
    expect(advised(undefined)).toContain("sign in, check your wallets, and check");
    expect(advised({ ...wallet, requiredConfirmations: 1 })).toMatch(/, 1 confirmation$/m);
  });

  it("has a link, with its token in the fragment, if the reader has a token and the wallet still exists", () => {
    const link = `https://pay.example/wallets/disable#token=${TOKEN}`;
    const change: ReportedChange = { action: "wallet.updated", before: wallet, after: wallet };
    expect(mailOf(change, TOKEN).text).toContain(link);
    expect(mailOf(change).text).not.toContain("/wallets/disable");
    expect(mailOf({ ...change, action: "wallet.deleted", after: undefined }, TOKEN).text).not.toContain(TOKEN);
  });
});

describe("the check whether a user can sign in only by email", () => {
  const user: User = {
    id: "usr_01M7Y116S5004EM2R6G33SCWPC",
    email: "ada@example.com",
    emailKey: "ada@example.com",
    name: null,
    isEmailVerified: true,
    isOperator: false,
    hasTotp: false,
    hasEmailOtp: false,
    hasPasskey: false,
    hasGoogle: false,
    hasGithub: false,
  };
  it.each<[string, Partial<User>, boolean]>([
    ["nothing at all", {}, true],
    ["codes by mail as a second factor", { hasEmailOtp: true }, true],
    ["a linked account", { hasGoogle: true, hasGithub: true }, true],
    ["a passkey", { hasPasskey: true }, false],
    ["an authenticator app", { hasTotp: true, hasEmailOtp: true }, false],
  ])("is correct for a user with %s", (_, has, isOnly) => {
    expect(isMailOnly({ ...user, ...has })).toBe(isOnly);
  });
});

describe("a wallet's fingerprint", () => {
  it("is the first 16 hex digits of the SHA-256 of its address or key, which the audit facts do not contain", () => {
    // Computed with `printf %s <text> | sha256sum`.
    expect(fingerprintOf(wallet)).toBe("9fccb3234066f7b5");
    expect(fingerprintOf(keyed)).toBe("e06675e6ba2f9ddd");
    expect(walletFacts(keyed)).toEqual({
      network: "BTC",
      cryptocurrency: "BTC",
      walletType: "XPUB_WALLET",
      fingerprint: fingerprintOf(keyed),
      isEnabled: true,
      requiredConfirmations: 3,
    });
  });
});

describe("a wallet's delay", () => {
  it.each([
    ["no delay is set", 0, 0, 0],
    ["no delay is set but one is still running", 0, NOW_MS + 5, NOW_MS + 5],
    ["a delay of an hour is set", 1, 0, NOW_MS + HOUR_MS],
    ["a delay of an hour is set and two hours remain", 1, NOW_MS + 2 * HOUR_MS, NOW_MS + 2 * HOUR_MS],
  ])("ends after the new delay or the running one, whichever is later, when %s", (_, delayHours, beforeMs, endsMs) => {
    expect(usableFrom({ nowMs: NOW_MS, delayHours, beforeMs })).toBe(endsMs);
  });

  it("is never shortened by another change, and keeps an enabled wallet out of use until it ends", () => {
    const time = fc.integer({ min: 0, max: 2 ** 45 });
    fc.assert(
      fc.property(
        time,
        fc.integer({ min: 0, max: 720 }),
        time,
        fc.boolean(),
        (nowMs, delayHours, beforeMs, isEnabled) => {
          const endsMs = usableFrom({ nowMs, delayHours, beforeMs });
          expect(endsMs).toBeGreaterThanOrEqual(beforeMs);
          if (delayHours > 0) expect(endsMs).toBeGreaterThan(nowMs);
          const isOpenAt = (atMs: number) => isWalletOpen({ isEnabled, usableFromMs: endsMs }, atMs);
          expect([isOpenAt(endsMs - 1), isOpenAt(endsMs)]).toEqual([false, isEnabled]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
