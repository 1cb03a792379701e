// Tokens of the stand-in of Turnstile (`turnstile-stand-in.ts`): each says how the service takes it. For Node, workerd and pages alike.
import * as z from "zod";

/**
 * `solved` passes once; `wrong` and `old` never do. With all others the service has a fault, of its own or of the way to it, or it says that our
 * secret is wrong.
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

/** What a token says of itself. */
export const TOKEN_FACTS = z.object({
  state: z.enum(["solved", "wrong", "old", ...OUTAGES, "silent"]) satisfies z.ZodType<TokenState>,
  action: z.string().optional(),
  hostname: z.string(),
});
export type TokenFacts = Readonly<z.infer<typeof TOKEN_FACTS>>;

/** Another token at each call. */
export function tokenOf(facts: Partial<TokenFacts> = {}): string {
  const all = { state: "solved", action: "invoice", hostname: "shop.example", ...facts, nonce: crypto.randomUUID() };
  return btoa(JSON.stringify(all));
}

/** A request to the service, as it came. */
export const ASKED = z.looseObject({
  secret: z.string().optional(),
  response: z.string().optional(),
  remoteip: z.string().optional(),
  idempotency_key: z.string().optional(),
});
export type Asked = Readonly<z.infer<typeof ASKED>>;

/** What the service was asked about a token. */
export async function askedAbout(origin: string, token: string): Promise<readonly Asked[]> {
  const answer = await fetch(`${origin}/asked?token=${encodeURIComponent(token)}`);
  return z.array(ASKED).parse(await answer.json());
}
