// java-tron's HTTP API, which both kinds of source use: makes one request and classifies refusals. A node throttles with 200 and `{"Error": "... lack
// of computing resources"}`, TronGrid with 403 and "exceeds the frequency limit ... suspended for 30s".
import * as z from "zod";
import { fetchExactJson, type JsonText, type Outage, outage } from "../../lib/fetch-text.ts";
import { lazily } from "../../lib/lazily.ts";
import { readBytes } from "../../lib/read-bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { ChainClientSettings } from "../sources/chain-client.ts";
import { shaped } from "../sources/json-rpc-client.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { TransactionInfo, WalletBlock, WalletTransaction } from "./wallet-json.ts";

/** A response may contain whole blocks; the largest have a few thousand transactions. */
const LIMIT_BYTES = 32 * 1_048_576;
const REFUSAL_BYTES = 4_096;

/** A block without transactions is `{}` or `[]`. */
const BlockInfos = lazily(() =>
  z.union([z.array(TransactionInfo()), z.object({}).transform((): TransactionInfo[] => [])]),
);

export type TronEdge = Pick<ChainClientSettings, "fetch" | "url" | "headers" | "timeoutMs">;

/** The same settings, but TronGrid's 403 for too many requests becomes 429. */
export function tronEdge(settings: TronEdge): TronEdge {
  const { fetch: send, url, headers, timeoutMs } = settings;
  return { fetch: async (address, init) => withMeantStatus(await send(address, init)), url, headers, timeoutMs };
}

async function withMeantStatus(response: Response): Promise<Response> {
  if (response.status !== 403 || response.body === null) return response;
  // Reads only the first chunk.
  const { bytes } = await readBytes(response.body, { limitBytes: 0, keptBytes: REFUSAL_BYTES });
  const text = new TextDecoder().decode(bytes);
  if (!/frequency limit|suspended for/i.test(text)) return new Response(null, { status: 403 });
  const seconds = /suspended for (\d{1,4}) ?s/i.exec(text)?.[1];
  return new Response(null, { status: 429, headers: seconds === undefined ? {} : { "retry-after": seconds } });
}

const Refusal = lazily(() =>
  z.object({
    Error: z.string().optional(),
    error: z.string().optional(),
    success: z.unknown().optional(),
  }),
);

/** Sends a GET, or a POST if there is a body; an error reported by the API is an outage. */
export async function walletCall<T>(
  edge: TronEdge,
  of: { readonly path: string; readonly schema: () => z.ZodType<T>; readonly body?: Readonly<Record<string, unknown>> },
): Promise<Result<T, Outage>> {
  const { fetch, url, headers, timeoutMs } = edge;
  const json = of.body === undefined ? {} : { json: JSON.stringify(of.body) };
  const request = { fetch, url: `${url}${of.path}`, headers, timeoutMs, limitBytes: LIMIT_BYTES, ...json };
  const answer = await fetchExactJson(request);
  if (!answer.ok) return answer;
  const refused = refusalIn(answer.value);
  return refused === undefined ? shaped(of.schema, answer.value, "the answer") : err(refused);
}

function refusalIn(value: JsonText): Outage | undefined {
  const parsed = Refusal().safeParse(value);
  if (!parsed.success) return undefined;
  const { Error: java, error, success } = parsed.data;
  const text = java ?? (success === false ? (error ?? "") : undefined);
  if (text === undefined) return undefined;
  const isThrottled = /lack of computing resources|frequency limit|rate limit/i.test(text);
  return outage(isThrottled ? "RATE_LIMITED" : "REFUSED", "the source refused the call");
}

export function nowBlock(edge: TronEdge, of: "wallet" | "walletsolidity"): Promise<Result<BlockRef | null, Outage>> {
  return walletCall(edge, { path: `/${of}/getnowblock`, schema: WalletBlock, body: {} });
}

/** Null above the tip. */
export async function blockByNumber(edge: TronEdge, height: number): Promise<Result<BlockRef | null, Outage>> {
  const block = await walletCall(edge, { path: "/wallet/getblockbynum", schema: WalletBlock, body: { num: height } });
  if (!block.ok || block.value === null || block.value.height === height) return block;
  return err(outage("UNEXPECTED_SHAPE", "the block has another height"));
}

/** Null if the node has no block with the transaction. */
export async function transactionInfo(edge: TronEdge, txHash: string): Promise<Result<TransactionInfo | null, Outage>> {
  const path = "/wallet/gettransactioninfobyid";
  const info = await walletCall(edge, { path, schema: TransactionInfo, body: { value: txHash } });
  if (!info.ok) return info;
  if (info.value.id === undefined) return ok(null);
  return info.value.id === txHash ? info : err(outage("UNEXPECTED_SHAPE", "the answer is another transaction"));
}

/** The results of all transactions in a block. Also empty if the node does not know the block. */
export function blockInfos(edge: TronEdge, height: number): Promise<Result<readonly TransactionInfo[], Outage>> {
  const path = "/wallet/gettransactioninfobyblocknum";
  return walletCall(edge, { path, schema: BlockInfos, body: { num: height } });
}

/** Whether the source does not offer this call, which does not count as a failure. */
export function isNotServed({ kind, message }: Outage): boolean {
  return kind === "BAD_STATUS" && /^status 40[45]$/.test(message);
}

/** Null if the node does not have the transaction. */
export async function transactionById(
  edge: TronEdge,
  txHash: string,
): Promise<Result<WalletTransaction | null, Outage>> {
  const path = "/wallet/gettransactionbyid";
  const transaction = await walletCall(edge, { path, schema: WalletTransaction, body: { value: txHash } });
  if (!transaction.ok) return transaction;
  if (transaction.value.txID === undefined) return ok(null);
  return transaction.value.txID === txHash
    ? transaction
    : err(outage("UNEXPECTED_SHAPE", "the answer is another transaction"));
}
