// Says with which factors a session goes on, and brings about what they need: a mailed code, a passkey's challenge.
import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import type { PersonPrincipal } from "../auth/principal.ts";
import type { Failure } from "../failures.ts";
import { ok, type Result } from "../lib/result.ts";
import { beginPasskey } from "../passkeys/begin-passkey.ts";
import type { FactorName } from "../sessions/session.ts";
import { sendCode } from "../sign-in/send-code.ts";
import { type FactorPurpose, factorsFor } from "./factor-proof.ts";
import type { FactorEffects } from "./prove-factor.ts";

export interface AskedFactors {
  readonly factors: readonly FactorName[];
  /** WebAuthn request options; null where the person has no passkey. */
  readonly passkey: PublicKeyCredentialRequestOptionsJSON | null;
}

/** RATE_LIMITED where too many codes went to this person's address. A code is mailed only where one would count. */
export async function askFactor(
  fx: FactorEffects,
  of: { readonly principal: PersonPrincipal; readonly purpose: FactorPurpose; readonly ip: string | null },
): Promise<Result<AskedFactors, Failure>> {
  const { principal, purpose, ip } = of;
  const { person, session } = principal;
  const factors = factorsFor(purpose, principal);
  if (factors.includes("email_code")) {
    const sent = await sendCode(fx, { purpose, email: person.email, boundTo: session.id, ip });
    if (!sent.ok) return sent;
  }
  if (!factors.includes("passkey")) return ok({ factors, passkey: null });
  const options = await beginPasskey(fx, principal);
  return options.ok ? ok({ factors, passkey: options.value }) : options;
}
