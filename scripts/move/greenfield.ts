// BTCPay Server's responses in its Greenfield API (https://docs.btcpayserver.org/API/Greenfield/v1/), read for a move. 1.x returns payment methods as
// an object with `data.derivationScheme`, 2.x as a list with `config.accountDerivation`; both are read.
import * as z from "zod";
import { plainText } from "../../src/lib/plain-text.ts";
import { COMPARED } from "./derivation.ts";
import { MoveError } from "./move-error.ts";
import type { NotRead, Reader } from "./reader.ts";

export interface BtcpayStore {
  readonly id: string;
  readonly name: string;
  readonly defaultCurrency: string | undefined;
  readonly invoiceExpirationSeconds: number | undefined;
  readonly speedPolicy: string | undefined;
  /** In percent. */
  readonly paymentTolerance: number | undefined;
}

export interface BtcpayMethod {
  /** The id that BTCPay uses: `BTC-CHAIN`, `BTC`, `BTC-LN`. */
  readonly id: string;
  /** The coin of an on-chain method; otherwise undefined. */
  readonly code: string | undefined;
  readonly isEnabled: boolean;
  /** Undefined if the key may not read it. */
  readonly scheme: string | undefined;
  readonly accountKeyPath: string | undefined;
  /** The first receiving addresses, from index 0; empty if they could not be read. */
  readonly previewed: readonly string[];
  /** Whether its wallet ever had a transaction; undefined if not requested, or if the key may not read it. */
  readonly hasTransactions: boolean | undefined;
}

export interface BtcpayWebhook {
  readonly id: string;
  readonly url: string;
  readonly isEnabled: boolean;
  readonly everything: boolean;
  readonly events: readonly string[];
}

export interface BtcpayExport {
  readonly store: BtcpayStore;
  readonly methods: readonly BtcpayMethod[];
  /** Undefined if the key may not read webhooks. */
  readonly webhooks: readonly BtcpayWebhook[] | undefined;
  /** Undefined if the key may not read it. */
  readonly hasInvoices: boolean | undefined;
}

const MAX_STORES = 200;

const store = z.object({
  id: z.string().regex(/^\w+$/),
  name: z.string(),
  defaultCurrency: z.string().nullish(),
  invoiceExpiration: z.number().nullish(),
  speedPolicy: z.string().nullish(),
  paymentTolerance: z.number().nullish(),
});
const config = z.object({
  accountDerivation: z.string().nullish(),
  signingKey: z.string().nullish(),
  accountKeySettings: z
    .array(z.object({ accountKey: z.string().nullish(), accountKeyPath: z.string().nullish() }))
    .nullish(),
});
const methodsOf2 = z.array(
  z.object({ paymentMethodId: z.string(), enabled: z.boolean(), config: z.unknown().optional() }),
);
const data = z.object({ derivationScheme: z.string().nullish(), accountKeyPath: z.string().nullish() });
const methodsOf1 = z.record(z.string(), z.object({ enabled: z.boolean(), data: z.unknown().optional() }));
const preview = z.object({ addresses: z.array(z.object({ keyPath: z.string(), address: z.string() })) });
const webhooks = z.array(
  z.object({
    id: z.string(),
    url: z.string(),
    enabled: z.boolean().default(true),
    authorizedEvents: z
      .object({ everything: z.boolean().default(true), specificEvents: z.array(z.string()).nullish() })
      .default({ everything: true }),
  }),
);

/** Reads what a move needs from each store that the key may see. `unused`: the coins for which the wallets' transactions are requested too. */
export async function readBtcpay(read: Reader, unused: ReadonlySet<string>): Promise<readonly BtcpayExport[]> {
  const path = "/api/v1/stores";
  const answer = await read(path);
  if (!answer.ok) throw new MoveError(whyNoStores(answer.error));
  const stores = checked(z.array(store).max(MAX_STORES), answer.value, path);
  const exports: BtcpayExport[] = [];
  for (const each of stores) exports.push(await readStore(read, each, unused));
  return exports;
}

function whyNoStores(why: NotRead): string {
  return why === "FORBIDDEN"
    ? "BTCPay Server shows no stores to this key: give it the permission btcpay.store.canviewstoresettings."
    : "There is no Greenfield API and no stores.json at --from or --export.";
}

async function readStore(read: Reader, of: z.infer<typeof store>, unused: ReadonlySet<string>): Promise<BtcpayExport> {
  const at = `/api/v1/stores/${of.id}`;
  return {
    store: {
      id: of.id,
      name: plainText(of.name),
      defaultCurrency: of.defaultCurrency ?? undefined,
      invoiceExpirationSeconds: of.invoiceExpiration ?? undefined,
      speedPolicy: of.speedPolicy ?? undefined,
      paymentTolerance: of.paymentTolerance ?? undefined,
    },
    methods: await readMethods(read, at, unused),
    webhooks: await readWebhooks(read, `${at}/webhooks`),
    hasInvoices: await readHasAny(read, `${at}/invoices?take=1&includeArchived=true`),
  };
}

async function readMethods(read: Reader, at: string, unused: ReadonlySet<string>): Promise<readonly BtcpayMethod[]> {
  const path = `${at}/payment-methods`;
  const whole = await read(`${path}?includeConfig=true`);
  // 2.x shows configurations only to keys that may change them.
  const answer = whole.ok ? whole : await read(path);
  if (!answer.ok) throw new MoveError(`GET ${path} was refused: give the key btcpay.store.canviewstoresettings.`);
  const found = Array.isArray(answer.value) ? newMethods(answer.value, path) : oldMethods(answer.value, path);
  const methods: BtcpayMethod[] = [];
  for (const method of found) {
    const hasTransactions = unused.has(method.code ?? "")
      ? await readHasAny(read, `${path}${method.walletAt}/transactions?limit=1`)
      : undefined;
    methods.push({ ...method, previewed: await readPreview(read, path, method), hasTransactions });
  }
  return methods;
}

type Unpreviewed = Omit<BtcpayMethod, "previewed" | "hasTransactions"> & {
  readonly previewAt: string;
  readonly walletAt: string;
};

function newMethods(answer: unknown, path: string): readonly Unpreviewed[] {
  return checked(methodsOf2, answer, path).map((each) => {
    const code = onChainCode(each.paymentMethodId);
    const read = code === undefined ? undefined : config.safeParse(each.config).data;
    const keys = read?.accountKeySettings ?? [];
    const signing = keys.find(({ accountKey }) => accountKey === read?.signingKey) ?? keys[0];
    return {
      id: plainText(each.paymentMethodId),
      code,
      isEnabled: each.enabled,
      scheme: read?.accountDerivation ?? undefined,
      accountKeyPath: signing?.accountKeyPath ?? undefined,
      previewAt: `/${code}-CHAIN/wallet/preview`,
      walletAt: `/${code}-CHAIN/wallet`,
    };
  });
}

function oldMethods(answer: unknown, path: string): readonly Unpreviewed[] {
  return Object.entries(checked(methodsOf1, answer, path)).map(([id, each]) => {
    const code = onChainCode(id);
    const read = code === undefined ? undefined : data.safeParse(each.data).data;
    return {
      id: plainText(id),
      code,
      isEnabled: each.enabled,
      scheme: read?.derivationScheme ?? undefined,
      accountKeyPath: read?.accountKeyPath ?? undefined,
      previewAt: `/onchain/${code}/preview`,
      walletAt: `/onchain/${code}/wallet`,
    };
  });
}

/** The coin in `BTC-CHAIN` of 2.x, or in `BTC`, `BTC-OnChain` and older spellings of 1.x. */
function onChainCode(id: string): string | undefined {
  const [, code] = /^([A-Za-z0-9]{2,10})(?:[-_](?:CHAIN|OnChain|BTCLike|BitcoinLike))?$/i.exec(id) ?? [];
  return code?.toUpperCase();
}

async function readPreview(read: Reader, path: string, method: Unpreviewed): Promise<readonly string[]> {
  if (method.scheme === undefined) return [];
  const at = `${path}${method.previewAt}`;
  const answer = await read(`${at}?offset=0&amount=${COMPARED}`);
  if (!answer.ok) return [];
  const { addresses } = checked(preview, answer.value, at);
  const byIndex = new Map(addresses.map(({ keyPath, address }) => [keyPath.replace(/^(m\/)?\/*/, ""), address]));
  const inOrder = Array.from({ length: COMPARED }, (_, index) => byIndex.get(`0/${index}`));
  const end = inOrder.indexOf(undefined);
  return inOrder.slice(0, end === -1 ? COMPARED : end).flatMap((address) => address ?? []);
}

async function readWebhooks(read: Reader, path: string): Promise<readonly BtcpayWebhook[] | undefined> {
  const answer = await read(path);
  if (!answer.ok) return undefined;
  return checked(webhooks, answer.value, path).map(({ id, url, enabled, authorizedEvents }) => ({
    id: plainText(id),
    url,
    isEnabled: enabled,
    everything: authorizedEvents.everything,
    events: authorizedEvents.specificEvents ?? [],
  }));
}

async function readHasAny(read: Reader, path: string): Promise<boolean | undefined> {
  const answer = await read(path);
  return answer.ok ? checked(z.array(z.unknown()), answer.value, path).length > 0 : undefined;
}

function checked<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new MoveError(
    `GET ${path} was not answered as BTCPay Server answers: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}.`,
  );
}
