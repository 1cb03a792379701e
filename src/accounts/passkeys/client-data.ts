// The browser's statement about the request that it answered, and the origin of that request (WebAuthn level 3, 5.8.1 "Client Data Used in WebAuthn
// Signatures").
import { base64urlnopad } from "@scure/base";

export interface ClientData {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
}

/** The values without token binding (WebAuthn level 1 and 2). We do not support token binding, so "present" is refused. */
const UNBOUND: readonly unknown[] = ["supported", "not-supported"];

/**
 * Undefined if the text is unreadable, was made in a frame on a page of another origin ("crossOrigin", "topOrigin"), or claims to be bound to a TLS
 * connection. A frame is refused because our name would be shown on a page that is not ours.
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
