// Checks one factor, whichever it is. An attempt is counted on the account before anything is looked at, and no check runs without the count
// (security.md 3 "factor checks stay closed"). What was given is used up by the caller's batch, so of two uses at once one aborts.
import type { BatchItem } from "drizzle-orm/batch";
import type { Trail } from "../audit/entry.ts";
import type { PersonPrincipal } from "../auth/principal.ts";
import { readWithRetry, withinLimit } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { UserId } from "../lib/ids.ts";
import { macsOfText } from "../lib/keyring.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { PasskeyEffects } from "../passkeys/begin-passkey.ts";
import { verifyPasskey } from "../passkeys/verify-passkey.ts";
import type { FactorGiven } from "../sessions/session.ts";
import type { SendEffects } from "../sign-in/send-code.ts";
import { useCode } from "../sign-in/use-code.ts";
import { backupCodeMacText, canonicalBackupCode } from "../totp/backup-code.ts";
import { openTotpSecret, type TotpEffects } from "../totp/enrol-totp.ts";
import { acceptStep, selectBackupCode, spendBackupCode } from "../totp/store.ts";
import { acceptedStep } from "../totp/totp.ts";
import type { UserRow } from "../users/store.ts";
import { type FactorProof, type FactorPurpose, factorGiven, factorsFor } from "./factor-proof.ts";
import { retryAfterSeconds } from "./guess-limit.ts";
import { giveAttemptBack, reserveAttempt, selectGuessWindow } from "./store.ts";

type Statements = readonly BatchItem<"sqlite">[];

export interface FactorEffects extends SendEffects, TotpEffects, PasskeyEffects {}

export interface FactorAttempt {
  readonly principal: PersonPrincipal;
  readonly purpose: FactorPurpose;
  readonly proof: FactorProof;
  readonly trail: Trail;
}

export interface ProvedFactor {
  readonly factor: FactorGiven;
  /** For the batch of what it was given for: use it up, and give the attempt back. */
  readonly statements: Statements;
}

/**
 * FACTOR_NOT_AVAILABLE where this kind does not count for this person; TOO_MANY_ATTEMPTS after 10 wrong ones in 15 minutes; INVALID_CODE or
 * PASSKEY_REFUSED for a wrong one. Not repeated on a fault of storage, which throws: each arrival is an attempt.
 */
export async function proveFactor(fx: FactorEffects, of: FactorAttempt): Promise<Result<ProvedFactor, Failure>> {
  const { principal, purpose, proof } = of;
  const factors = factorsFor(purpose, principal);
  if (!factors.includes(proof.factor)) return err({ code: "FACTOR_NOT_AVAILABLE", factors });
  const reserved = await reserve(fx, principal.person.id);
  if (!reserved.ok) return reserved;
  const used = await check(fx, of, reserved.value);
  if (!used.ok) return used;
  const statements = [...used.value, giveAttemptBack(fx.db, reserved.value)];
  return ok({ factor: factorGiven(proof.factor), statements });
}

async function reserve(fx: FactorEffects, userId: UserId): Promise<Result<UserRow, Failure>> {
  const { db, nowMs } = fx;
  const [user] = await withinLimit(fx.sleep, reserveAttempt(db, userId, nowMs).execute());
  if (user !== undefined) return ok(user);
  const rows = await readWithRetry(fx.sleep, async () => selectGuessWindow(db, userId));
  if (!rows.ok) return rows;
  const startMs = rows.value[0]?.startMs ?? nowMs;
  return err({ code: "TOO_MANY_ATTEMPTS", retryAfterSeconds: retryAfterSeconds(startMs, nowMs) });
}

async function check(fx: FactorEffects, of: FactorAttempt, user: UserRow): Promise<Result<Statements, Failure>> {
  const { principal, purpose, proof } = of;
  switch (proof.factor) {
    case "totp":
      return checkTotp(fx, user, proof.code);
    case "backup_code":
      return checkBackupCode(fx, user, proof.code);
    case "email_code": {
      const boundTo = principal.session.id;
      const used = await useCode(fx, { purpose, email: user.email, boundTo, code: proof.code });
      return used.ok ? ok(used.value.statements) : used;
    }
    case "passkey": {
      const { trail } = of;
      const { credential } = proof;
      const used = await verifyPasskey(fx, { ...principal, kind: "PASSKEY_STEP_UP", credential, trail });
      return used.ok ? ok(used.value.statements) : used;
    }
  }
}

async function checkTotp(fx: FactorEffects, user: UserRow, code: string): Promise<Result<Statements, Failure>> {
  const { id: userId, totpSecret: sealed, totpLastStep: lastStep } = user;
  if (sealed === null || user.totpEnabledAtMs === null) return err({ code: "INVALID_CODE" });
  const secret = await openTotpSecret(fx.sealKeys, userId, sealed);
  const step = acceptedStep({ secret, code, nowMs: fx.nowMs, lastStep });
  return step === undefined ? err({ code: "INVALID_CODE" }) : ok(acceptStep(fx.db, { userId, sealed, step }));
}

async function checkBackupCode(
  fx: FactorEffects,
  { id: userId }: UserRow,
  code: string,
): Promise<Result<Statements, Failure>> {
  const { db, nowMs } = fx;
  const canonical = canonicalBackupCode(code);
  if (canonical === undefined) return err({ code: "INVALID_CODE" });
  const macs = macsOfText(fx.pepper, backupCodeMacText(userId, canonical));
  const rows = await readWithRetry(fx.sleep, async () => selectBackupCode(db, userId, macs));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  return row === undefined ? err({ code: "INVALID_CODE" }) : ok(spendBackupCode(db, { userId, mac: row.mac, nowMs }));
}
