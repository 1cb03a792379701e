// Lists the factors with which a session can continue, and prepares them: emails a code and creates a passkey challenge.
import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import { ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { UserPrincipal } from "../auth/principal.ts";
import { sendCode } from "../email-codes/send-code.ts";
import { beginPasskey } from "../passkeys/begin-passkey.ts";
import type { FactorName } from "../sessions/session.ts";
import { type FactorPurpose, factorsFor } from "./factor-proof.ts";
import type { FactorDependencies } from "./prove-factor.ts";

interface AskedFactors {
  readonly factors: readonly FactorName[];
  /** WebAuthn request options; null if the user has no passkey. */
  readonly passkey: PublicKeyCredentialRequestOptionsJSON | null;
}

/** Fails with RATE_LIMITED if a limit on emailed codes is reached. Emails a code only if emailed codes count for this user and purpose. */
export async function askFactor(
  deps: FactorDependencies,
  of: { readonly principal: UserPrincipal; readonly purpose: FactorPurpose; readonly ip: string | null },
): Promise<Result<AskedFactors, Failure>> {
  const { principal, purpose, ip } = of;
  const { user, session } = principal;
  const factors = factorsFor(purpose, principal);
  if (factors.includes("email_code")) {
    const sent = await sendCode(deps, { purpose, email: user.email, boundTo: session.id, ip });
    if (!sent.ok) return sent;
  }
  if (!factors.includes("passkey")) return ok({ factors, passkey: null });
  const options = await beginPasskey(deps, principal);
  return options.ok ? ok({ factors, passkey: options.value }) : options;
}
