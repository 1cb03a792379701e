import { lazilyLoaded } from "../../lib/lazily.ts";

/** `@simplewebauthn/server`, loaded when the first passkey is checked, so that an isolate starts without it. */
export const webAuthn = lazilyLoaded(async () => ({
  ...(await import("@simplewebauthn/server")),
  ...(await import("@simplewebauthn/server/helpers")),
}));
