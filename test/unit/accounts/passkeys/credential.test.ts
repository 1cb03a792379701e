import { base64urlnopad } from "@scure/base";
import { describe, expect, test } from "vitest";
import {
  type Answerer,
  browserData,
  type Challenge,
  type ChallengeKind,
  isChallengeOf,
  isHandleOf,
  isRolledBack,
  relyingPartyOf,
  userHandleOf,
} from "../../../../src/accounts/passkeys/credential.ts";
import { makeId } from "../../../../src/lib/ids.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const userId = makeId("usr", ULID);
const session = { id: makeId("ses", ULID), userId };

describe("the relying party", () => {
  test.each([
    ["https://pay.example.com", "pay.example.com", "https://pay.example.com"],
    ["https://pay.example.com/shop", "pay.example.com", "https://pay.example.com"],
    ["http://localhost:8787", "localhost", "http://localhost:8787"],
  ])("for %s has the id %s and the origin %s", (publicUrl, id, origin) => {
    expect(relyingPartyOf(publicUrl)).toEqual({ id, origin });
  });

  test("cannot be determined without a PUBLIC_URL", () => {
    expect(() => relyingPartyOf("")).toThrow();
  });
});

describe("a passkey challenge", () => {
  const KINDS: readonly ChallengeKind[] = ["PASSKEY_REGISTRATION", "PASSKEY_SIGN_IN", "PASSKEY_STEP_UP"];
  const given = (kind: string): Challenge =>
    kind === "PASSKEY_SIGN_IN"
      ? { hash: "", kind, userId: null, sessionId: null, data: browserData("nonce"), expiresAtMs: 10 }
      : { hash: "", kind, userId, sessionId: session.id, data: null, expiresAtMs: 10 };
  const answerer = (kind: ChallengeKind): Answerer =>
    kind === "PASSKEY_SIGN_IN" ? { kind, nonce: "nonce" } : { kind, session };

  test("is accepted only for its own purpose", () => {
    for (const kind of [...KINDS, "OAUTH"])
      for (const purpose of KINDS) expect(isChallengeOf(given(kind), answerer(purpose), 9)).toBe(kind === purpose);
  });

  test("is refused once it has expired", () => {
    for (const kind of KINDS) expect(isChallengeOf(given(kind), answerer(kind), 10)).toBe(false);
  });

  test.each<[string, Answerer]>([
    ["another browser", { kind: "PASSKEY_SIGN_IN", nonce: "other" }],
    ["a browser without a nonce", { kind: "PASSKEY_SIGN_IN", nonce: undefined }],
    [
      "another session",
      { kind: "PASSKEY_STEP_UP", session: { ...session, id: makeId("ses", "01ARZ3NDEKTSV4RRFFQ69G5FAW") } },
    ],
    [
      "another user",
      { kind: "PASSKEY_STEP_UP", session: { ...session, userId: makeId("usr", "01ARZ3NDEKTSV4RRFFQ69G5FAW") } },
    ],
  ])("is refused from %s", (_, who) => {
    expect(isChallengeOf(given(who.kind), who, 9)).toBe(false);
  });
});

describe("a signature counter", () => {
  test.each([
    [0, 0, false],
    [0, 1, false],
    [1, 2, false],
    [1, 1, true],
    [2, 1, true],
    [1, 0, true],
    [4_294_967_295, 0, true],
  ])("stored as %i and received as %i was rolled back: %s", (stored, now, isBack) => {
    expect(isRolledBack(stored, now)).toBe(isBack);
  });
});

describe("the user handle", () => {
  const own = base64urlnopad.encode(userHandleOf(userId));
  test("is the user's id, and fits into the 64 bytes that authenticators store", () => {
    expect(Buffer.from(own, "base64url").toString()).toBe(userId);
    expect(userHandleOf(userId).length).toBeLessThanOrEqual(64);
  });

  test.each<[string | null | undefined, ChallengeKind, boolean]>([
    [own, "PASSKEY_SIGN_IN", true],
    [own, "PASSKEY_STEP_UP", true],
    [null, "PASSKEY_SIGN_IN", false],
    [undefined, "PASSKEY_SIGN_IN", false],
    ["", "PASSKEY_SIGN_IN", false],
    [null, "PASSKEY_STEP_UP", true],
    [undefined, "PASSKEY_STEP_UP", true],
    ["AAAA", "PASSKEY_SIGN_IN", false],
    ["AAAA", "PASSKEY_STEP_UP", false],
  ])("%s is accepted for %s: %s", (handle, kind, isOwn) => {
    expect(isHandleOf(userId, handle, kind)).toBe(isOwn);
  });
});
