// Checks one factor of any kind. Every check is counted as an attempt first. The caller's batch marks the factor as used, so of two concurrent
// uses one aborts.
import { macsOfText } from "../../lib/keyring.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { batch } from "../../platform/db/batch.ts";
import { batchConflict } from "../../platform/db/conflict.ts";
import { executeOnce, readRow, readWithRetry } from "../../platform/db/retry.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { readRetiredPeppers } from "../../platform/keys/read-retired-peppers.ts";
import type { UserPrincipal } from "../auth/principal.ts";
import type { SendDependencies } from "../email-codes/send-code.ts";
import { useCode } from "../email-codes/use-code.ts";
import type { PasskeyDependencies } from "../passkeys/begin-passkey.ts";
import { verifyPasskey } from "../passkeys/verify-passkey.ts";
import { type FactorGiven, factorGiven, type ProvedSession } from "../sessions/session.ts";
import { backupCodeMacText, canonicalBackupCode } from "../totp/backup-code.ts";
import { openTotpSecret, type TotpDependencies } from "../totp/enrol-totp.ts";
import { acceptStep, selectBackupCode, spendBackupCode } from "../totp/store.ts";
import { acceptedStep } from "../totp/totp.ts";
import type { UserRow } from "../users/store.ts";
import { type FactorProof, type FactorPurpose, factorsFor } from "./factor-proof.ts";
import { type GuessScope, guessScopes, retryAfterSeconds } from "./guess-limit.ts";
import { giveAttemptBack, reserveAttempt, selectExhausted } from "./store.ts";

type Statements = readonly Statement[];

export interface FactorDependencies extends SendDependencies, TotpDependencies, PasskeyDependencies {}

export interface FactorAttempt {
  readonly principal: UserPrincipal;
  readonly purpose: FactorPurpose;
  readonly proof: FactorProof;
  readonly trail: Trail;
}

interface ProvedFactor {
  readonly factor: FactorGiven;
  /** Statements for the batch of the permitted change: they mark the factor as used and take the attempt off the count. */
  readonly statements: Statements;
}

/**
 * Fails with FACTOR_NOT_AVAILABLE if this kind of factor does not count for this user, with TOO_MANY_ATTEMPTS after too many wrong factors, and with
 * INVALID_CODE or PASSKEY_REFUSED for a wrong factor. A storage fault throws and is not retried, because each execution counts as an attempt.
 */
export async function proveFactor(deps: FactorDependencies, of: FactorAttempt): Promise<Result<ProvedFactor, Failure>> {
  const { principal, purpose, proof } = of;
  const factors = factorsFor(purpose, principal);
  if (!factors.includes(proof.factor)) return err({ code: "FACTOR_NOT_AVAILABLE", factors });
  const scopes = guessScopes(principal.session, of.trail.ip);
  const reserved = await reserve(deps, principal.session, scopes);
  if (!reserved.ok) return reserved;
  const used = await check(deps, of, reserved.value);
  if (!used.ok) return used;
  const statements = [...used.value, giveAttemptBack(deps.db, scopes, deps.nowMs)];
  return ok({ factor: factorGiven(proof.factor), statements });
}

async function reserve(
  deps: FactorDependencies,
  { userId }: ProvedSession,
  scopes: readonly GuessScope[],
): Promise<Result<UserRow, Failure>> {
  const { db, nowMs } = deps;
  try {
    const [, , [user]] = await executeOnce(deps.sleep, () => batch(db, reserveAttempt(db, { userId, nowMs }, scopes)));
    if (user === undefined) throw new Error(`a session of the user ${userId}, who is not there`);
    return ok(user);
  } catch (error) {
    if (batchConflict(error)?.kind !== "assertion") throw error;
  }
  const rows = await readWithRetry(deps.sleep, async () => selectExhausted(db, scopes, nowMs));
  if (!rows.ok) return rows;
  const endsAtMs = Math.max(nowMs, ...rows.value.map((row) => row.endsAtMs));
  return err({ code: "TOO_MANY_ATTEMPTS", retryAfterSeconds: retryAfterSeconds(endsAtMs, nowMs) });
}

async function check(deps: FactorDependencies, of: FactorAttempt, user: UserRow): Promise<Result<Statements, Failure>> {
  const { principal, purpose, proof } = of;
  switch (proof.factor) {
    case "totp":
      return checkTotp(deps, user, proof.code);
    case "backup_code":
      return checkBackupCode(deps, user, proof.code);
    case "email_code": {
      const boundTo = principal.session.id;
      const used = await useCode(deps, { purpose, email: user.email, boundTo, code: proof.code });
      return used.ok ? ok(used.value.statements) : used;
    }
    case "passkey": {
      const { trail } = of;
      const { credential } = proof;
      const used = await verifyPasskey(deps, { ...principal, kind: "PASSKEY_STEP_UP", credential, trail });
      return used.ok ? ok(used.value.statements) : used;
    }
  }
}

async function checkTotp(deps: FactorDependencies, user: UserRow, code: string): Promise<Result<Statements, Failure>> {
  const { id: userId, totpSecret: sealed, totpEnabledAtMs: enabledAtMs, totpLastStep: lastStep } = user;
  if (sealed === null || enabledAtMs === null) return err({ code: "INVALID_CODE" });
  const secret = await openTotpSecret(deps.sealKeys, userId, sealed);
  const step = acceptedStep({ secret, code, nowMs: deps.nowMs, lastStep });
  return step === undefined ? err({ code: "INVALID_CODE" }) : ok(acceptStep(deps.db, { userId, enabledAtMs, step }));
}

async function checkBackupCode(
  deps: FactorDependencies,
  { id: userId }: UserRow,
  code: string,
): Promise<Result<Statements, Failure>> {
  const { db, nowMs } = deps;
  const canonical = canonicalBackupCode(code);
  if (canonical === undefined) return err({ code: "INVALID_CODE" });
  const retired = await readRetiredPeppers(deps);
  if (!retired.ok) return retired;
  const macs = macsOfText([...deps.pepper, ...retired.value], backupCodeMacText(userId, canonical));
  const row = await readRow(deps.sleep, () => selectBackupCode(db, userId, macs), { code: "INVALID_CODE" });
  return row.ok ? ok(spendBackupCode(db, { userId, mac: row.value.mac, nowMs })) : row;
}
