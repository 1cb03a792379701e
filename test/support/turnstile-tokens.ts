// Tokens of the Turnstile stand-in (`turnstile-stand-in.ts`). Each encodes how the service treats it. They work in Node, workerd and pages.
import * as z from "zod";

/**
 * `solved` passes once; `wrong` and `old` never pass. For all others the service fails, the connection to it fails, or it reports that our secret is
 * wrong.
 */
type TokenState =
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

/** What a token encodes. */
export const TOKEN_FACTS = z.object({
  state: z.enum(["solved", "wrong", "old", ...OUTAGES, "silent"]) satisfies z.ZodType<TokenState>,
  action: z.string().optional(),
  hostname: z.string(),
});
export type TokenFacts = Readonly<z.infer<typeof TOKEN_FACTS>>;

/** A new token for each call. */
export function tokenOf(facts: Partial<TokenFacts> = {}): string {
  const all = { state: "solved", action: "invoice", hostname: "shop.example", ...facts, nonce: crypto.randomUUID() };
  return btoa(JSON.stringify(all));
}

/** A request as the service received it. */
export const ASKED = z.looseObject({
  secret: z.string().optional(),
  response: z.string().optional(),
  remoteip: z.string().optional(),
  idempotency_key: z.string().optional(),
});
export type Asked = Readonly<z.infer<typeof ASKED>>;

/** The requests that the service received about a token. */
export async function askedAbout(origin: string, token: string): Promise<readonly Asked[]> {
  const answer = await fetch(`${origin}/asked?token=${encodeURIComponent(token)}`);
  return z.array(ASKED).parse(await answer.json());
}
