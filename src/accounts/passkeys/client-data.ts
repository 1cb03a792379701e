// What the browser says it was asked and where (WebAuthn level 3, 5.8.1 "Client Data Used in WebAuthn Signatures").
import { base64urlnopad } from "@scure/base";

export interface ClientData {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
}

/** Level 1 and 2: the connection is not bound. "present" would name a binding, and we offer none. */
const UNBOUND: readonly unknown[] = ["supported", "not-supported"];

/**
 * Undefined for what is unreadable, was made in a frame of another origin ("crossOrigin", "topOrigin"), where our name may be shown around a
 * stranger's page, or says that it is bound to a TLS connection.
 */
export function clientDataIn(text: string): ClientData | undefined {
  const data = parsed(text);
  if (data === undefined || (data.crossOrigin ?? false) !== false || (data.topOrigin ?? null) !== null)
    return undefined;
  if (!isUnbound(data.tokenBinding ?? null)) return undefined;
  const { type, challenge, origin } = data;
  if (typeof type !== "string" || typeof challenge !== "string" || typeof origin !== "string") return undefined;
  return { type, challenge, origin };
}

function isUnbound(binding: unknown): boolean {
  if (binding === null) return true;
  return typeof binding === "object" && "status" in binding && UNBOUND.includes(binding.status);
}

type Claims = Partial<Readonly<Record<keyof ClientData | "crossOrigin" | "topOrigin" | "tokenBinding", unknown>>>;

function parsed(text: string): Claims | undefined {
  try {
    const data: unknown = JSON.parse(new TextDecoder().decode(base64urlnopad.decode(text)));
    return typeof data === "object" && data !== null ? data : undefined;
  } catch {
    return undefined;
  }
}
