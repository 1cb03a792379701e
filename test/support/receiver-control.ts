// How a test controls the receiver of `receiver.ts`: over HTTP, which works in Node and in workerd.
import * as z from "zod";

export interface Reception {
  readonly atMs: number;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, verbatim, up to 64 KB. */
  readonly body: string;
  /** The trusted secrets that verify the signature according to `standardwebhooks`; null if no secret is trusted. */
  readonly signedBy: readonly string[] | null;
  /** `CUT`: the connection ended before the response was complete, on either side. */
  readonly end: "OPEN" | "ANSWERED" | "CUT";
}

const RECEPTIONS = z.array(
  z.object({
    atMs: z.number(),
    method: z.string(),
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    signedBy: z.array(z.string()).nullable(),
    end: z.enum(["OPEN", "ANSWERED", "CUT"]),
  }) satisfies z.ZodType<Reception>,
);

export interface ReceiverControl {
  /** The URL with this behaviour, e.g. `url("status/503?retry-after=2", key)`. `told` is the behaviour set by `tell`, at first `ok`. */
  url(behaviour: string, key: string): string;
  /** Everything received with the key, in order. */
  log(key: string): Promise<readonly Reception[]>;
  /** Sets the secrets with which requests with this key are verified from now on. */
  trust(key: string, ...secrets: readonly string[]): Promise<void>;
  /** Sets how `told` behaves from now on, e.g. `status/500`. */
  tell(key: string, behaviour: string): Promise<void>;
}

export function receiverAt(origin: string): ReceiverControl {
  const at = (path: string, key: string) => `${origin}/${path}${path.includes("?") ? "&" : "?"}key=${key}`;
  const post = async (path: string, key: string, body: string): Promise<void> => {
    const response = await fetch(at(path, key), { method: "POST", body });
    await response.text();
  };
  return {
    url: at,
    log: async (key) => RECEPTIONS.parse(await (await fetch(at("log", key))).json()),
    trust: (key, ...secrets) => post("trust", key, secrets.join("\n")),
    tell: (key, behaviour) => post("tell", key, `/${behaviour}`),
  };
}
