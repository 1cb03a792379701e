// Reads a merchant from another server that implements this interface (docs/interface.md), through its routes. Where the interface leaves details
// open, responses are read in the form that existing servers use (docs/design/decisions.md 1 "Drop-in"); a missing field is omitted.
import * as z from "zod";
import { COMPARED } from "./derivation.ts";
import { MoveError } from "./move-error.ts";
import type { Reader } from "./reader.ts";

const wallet = z.object({
  id: z.string().nullish(),
  walletType: z.enum(["DIRECT_WALLET", "XPUB_WALLET"]),
  cryptocurrency: z.string(),
  network: z.string(),
  address: z.string().nullish(),
  xpub: z.string().nullish(),
  derivationPath: z.string().nullish(),
  requiredConfirmations: z.int().nullish(),
  isEnabled: z.boolean().nullish(),
  lastUsedIndex: z.int().nullish(),
  nextIndex: z.int().nullish(),
});
const webhook = z.object({
  id: z.string().nullish(),
  url: z.string(),
  events: z.array(z.string()).nullish(),
  isActive: z.boolean().nullish(),
});
const text = z.string().nullish();
const product = z.object({
  name: z.string(),
  description: text,
  price: z.union([z.string(), z.number()]),
  currency: text,
  image: text,
  isActive: z.boolean().nullish(),
  askForName: z.boolean().nullish(),
  askForAddress: z.boolean().nullish(),
  askForPhoneNumber: z.boolean().nullish(),
  deletedAt: text,
});
const customer = z.object({
  email: text,
  name: text,
  address: text,
  phoneNumber: text,
  metadata: z.record(z.string(), z.string()).nullish(),
  deletedAt: text,
});
const page = z.object({
  data: z.array(z.unknown()),
  nextCursor: text,
  pagination: z.object({ page: z.int(), lastPage: z.int() }).nullish(),
});
const previewed = z.object({ data: z.array(z.object({ index: z.int(), address: z.string() })) });

export type OtherWallet = z.infer<typeof wallet> & {
  /** The first addresses that the server itself derives; empty if it does not show them. */
  readonly previewed: readonly string[];
};
export type OtherWebhook = z.infer<typeof webhook>;
export type OtherProduct = z.infer<typeof product>;
export type OtherCustomer = z.infer<typeof customer>;

export interface OtherMerchant {
  readonly merchantId: string;
  readonly wallets: readonly OtherWallet[];
  readonly webhooks: readonly OtherWebhook[];
  readonly products: readonly OtherProduct[];
  readonly customers: readonly OtherCustomer[];
  /** Kinds of data that the server does not have, or does not show to the key. */
  readonly unread: readonly string[];
}

const MAX_PAGES = 1_000;

export async function readMerchant(read: Reader, merchantId: string): Promise<OtherMerchant> {
  const at = `/api/v1/merchants/merchant/${merchantId}`;
  const unread: string[] = [];
  const listOf = async <T>(kind: string, schema: z.ZodType<T>): Promise<readonly T[]> => {
    const rows = await readList(read, `${at}/${kind}`);
    if (rows === undefined) unread.push(kind);
    return checked(z.array(schema), rows ?? [], `${at}/${kind}`);
  };
  const wallets: OtherWallet[] = [];
  for (const each of await listOf("wallets", wallet))
    wallets.push({ ...each, previewed: await readPreview(read, at, each) });
  const webhooks = await listOf("webhooks", webhook);
  const products = await listOf("products", product);
  const customers = await listOf("customers", customer);
  return { merchantId, wallets, webhooks, products, customers, unread };
}

/** All rows of a list, plain or in pages; undefined if the server does not show it. */
async function readList(read: Reader, path: string): Promise<readonly unknown[] | undefined> {
  const rows: unknown[] = [];
  let query: string | undefined = "?limit=100";
  for (let count = 0; query !== undefined; count += 1) {
    if (count === MAX_PAGES) throw new MoveError(`GET ${path} has more than ${MAX_PAGES} pages.`);
    const answer = await read(`${path}${query}`);
    if (!answer.ok) return undefined;
    if (Array.isArray(answer.value)) return answer.value;
    const { data, nextCursor, pagination } = checked(page, answer.value, path);
    rows.push(...data);
    query = nextQuery(nextCursor ?? undefined, pagination ?? undefined);
  }
  return rows;
}

function nextQuery(cursor: string | undefined, pages: { page: number; lastPage: number } | undefined) {
  if (cursor !== undefined) return `?limit=100&cursor=${encodeURIComponent(cursor)}`;
  return pages !== undefined && pages.page < pages.lastPage ? `?limit=100&page=${pages.page + 1}` : undefined;
}

async function readPreview(read: Reader, at: string, of: z.infer<typeof wallet>): Promise<readonly string[]> {
  if (of.walletType !== "XPUB_WALLET" || !/^[\w-]+$/.test(of.id ?? "")) return [];
  const path = `${at}/wallets/${of.id}/addresses`;
  const answer = await read(`${path}?from=0&count=${COMPARED}`);
  if (!answer.ok) return [];
  const { data } = checked(previewed, answer.value, path);
  return data.toSorted((one, other) => one.index - other.index).map(({ address }) => address);
}

function checked<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new MoveError(
    `GET ${path} was not answered as this interface answers: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}.`,
  );
}
