// The command line of a move. It never contains the servers' API keys, because other users of a machine can read it.
import { parseArgs } from "node:util";
import { MoveError } from "./move-error.ts";

const USAGE = `npm run move -- btcpay    --from <https://btcpay...> [--store <id>] [flags]
npm run move -- btcpay    --export <folder>        [--store <id>] [flags]   from files with BTCPay's answers
npm run move -- interface --from <https://...> --from-merchant <id>  [flags]   from another server of this interface

  --to <https://...>       the Edgetill that is written to; without it the plan is for an empty merchant
  --merchant <mer_...>     the merchant there
  --plan                   only print what would be written
  --yes                    do not ask
  --key <coin>=<key>       the extended public key of a new account, for BTC or LTC; may be repeated
  --plugin                 the shop keeps its plugin of BTCPay Server: its webhooks keep their format and their secrets, its store keeps its id
  --unused <coin>          no address of the key of this coin was ever shown to anybody; may be repeated

Keys come from the environment, or are asked for: MOVE_FROM_KEY of the server that is left, MOVE_TO_KEY of Edgetill. With --plugin also the secrets of
its webhooks, which BTCPay Server shows where a webhook is edited: MOVE_WEBHOOK_SECRETS="<webhook's id>=<secret> ..."; without one a new one is made.`;

export interface Flags {
  readonly source: "btcpay" | "interface";
  readonly from: string | undefined;
  readonly folder: string | undefined;
  readonly store: string | undefined;
  readonly fromMerchant: string | undefined;
  readonly to: string | undefined;
  readonly merchant: string | undefined;
  readonly isPlanOnly: boolean;
  readonly isYes: boolean;
  readonly isPlugin: boolean;
  readonly keys: ReadonlyMap<string, string>;
  readonly unused: ReadonlySet<string>;
}

const text = { type: "string" } as const;
const OPTIONS = {
  from: text,
  export: text,
  store: text,
  "from-merchant": text,
  to: text,
  merchant: text,
  plan: { type: "boolean" },
  yes: { type: "boolean" },
  plugin: { type: "boolean" },
  key: { type: "string", multiple: true },
  unused: { type: "string", multiple: true },
} as const;
const COIN = /^(BTC|LTC)$/;
const ID = /^[\w-]{1,100}$/;

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: true });
}

export function readFlags(args: readonly string[]): Flags {
  const { values, positionals } = parsed(args);
  const [source] = positionals;
  if ((source !== "btcpay" && source !== "interface") || positionals.length > 1) throw new MoveError(USAGE);
  const { from, export: folder, store, "from-merchant": fromMerchant, to, merchant } = values;
  const flags = {
    source,
    from,
    folder,
    store,
    fromMerchant,
    to,
    merchant,
    isPlanOnly: values.plan === true,
    isYes: values.yes === true,
    isPlugin: values.plugin === true,
    keys: keysOf(values.key ?? []),
    unused: new Set((values.unused ?? []).map((coin) => coinOf("--unused", coin))),
  } as const;
  assertWhole(flags);
  return flags;
}

function parsed(args: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(args);
  } catch (error) {
    throw new MoveError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

function assertWhole({ source, from, folder, store, fromMerchant, to, merchant, isPlugin }: Flags): void {
  if ((from === undefined) === (folder === undefined)) throw new MoveError(`Give --from or --export.\n\n${USAGE}`);
  if (source === "interface" && (from === undefined || fromMerchant === undefined))
    throw new MoveError(`interface needs --from and --from-merchant.\n\n${USAGE}`);
  if (source === "interface" && isPlugin) throw new MoveError(`--plugin is for btcpay.\n\n${USAGE}`);
  if ((to === undefined) !== (merchant === undefined)) throw new MoveError("--to and --merchant belong together.");
  for (const [flag, id] of Object.entries({
    "--store": store,
    "--from-merchant": fromMerchant,
    "--merchant": merchant,
  }))
    if (id !== undefined && !ID.test(id)) throw new MoveError(`${flag} must be an id.`);
}

function keysOf(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map((pair) => {
      const [coin = "", key = ""] = pair.split("=");
      if (key === "") throw new MoveError("--key must be a coin and a key, such as BTC=zpub...");
      return [coinOf("--key", coin), key];
    }),
  );
}

function coinOf(flag: string, text: string): string {
  const coin = text.toUpperCase();
  if (!COIN.test(coin)) throw new MoveError(`${flag} is for BTC or LTC.`);
  return coin;
}
