// Tokens of the stand-in of Turnstile (`turnstile-stand-in.ts`): each says how the service takes it. For Node, workerd and pages alike.

/**
 * `solved` passes once; `wrong` and `old` never do. With all others the service has a fault, of its own or of the way to it, or it says that our
 * secret is wrong.
 */
export type TokenState =
  | "solved"
  | "wrong"
  | "old"
  | "fault"
  | "our-secret"
  | "page"
  | "shape"
  | "endless"
  | "cut"
  | "redirect"
  | "busy"
  | "silent";

export const OUTAGES = [
  "fault",
  "our-secret",
  "page",
  "shape",
  "endless",
  "cut",
  "redirect",
  "busy",
] as const satisfies readonly TokenState[];

export interface TokenFacts {
  readonly state: TokenState;
  readonly action: string;
  readonly hostname: string;
}

/** Another token at each call. */
export function tokenOf(facts: Partial<TokenFacts> = {}): string {
  const all = { state: "solved", action: "invoice", hostname: "shop.example", ...facts, nonce: crypto.randomUUID() };
  return btoa(JSON.stringify(all));
}

/** A request to the service, as it came. */
export interface Asked {
  readonly secret?: string;
  readonly response?: string;
  readonly remoteip?: string;
  readonly idempotency_key?: string;
}

/** What the service was asked about a token. */
export async function askedAbout(origin: string, token: string): Promise<readonly Asked[]> {
  const answer = await fetch(`${origin}/asked?token=${encodeURIComponent(token)}`);
  return answer.json() as Promise<readonly Asked[]>;
}
