// Who may create an account (SIGN_UP). `first`: only the user who redeems a set-up link; until then production serves nothing else. `invite`: the
// same, for a deployment that already has users and keeps serving. After the set-up, both admit only invited users. `open`: everyone.
import { err, ok, type Result } from "../../lib/result.ts";

export const SIGN_UP_MODES = ["first", "invite", "open"] as const;
type SignUp = (typeof SIGN_UP_MODES)[number];

/** Parses the setting; unset or empty is `first`. */
export function parseSignUp(text: string | undefined): Result<SignUp, string> {
  const given = (text ?? "").trim();
  const mode = SIGN_UP_MODES.find((each) => each === (given === "" ? "first" : given));
  return mode === undefined
    ? err(`SIGN_UP must be ${SIGN_UP_MODES.join(", ")}: until it is, it counts as first`)
    : ok(mode);
}

/** Like `parseSignUp`, but a wrong value must not open sign-up, so it counts as `first`. */
export function signUpOf(text: string | undefined): SignUp {
  const parsed = parseSignUp(text);
  return parsed.ok ? parsed.value : "first";
}

/** Whether production serves anything but its set-up. */
export function isServing(
  mode: SignUp,
  deployment: { readonly isSetUp: boolean; readonly hasUsers: boolean },
): boolean {
  switch (mode) {
    case "first":
      return deployment.isSetUp;
    case "invite":
      return deployment.isSetUp || deployment.hasUsers;
    case "open":
      return true;
  }
}
