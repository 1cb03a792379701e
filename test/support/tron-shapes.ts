// A TRON node's data about its chain, in Ethereum's shapes. Members that are not read here are forwarded too.
import * as z from "zod";

export const TRANSACTION = z.looseObject({
  hash: z.string(),
  from: z.string(),
  to: z.string().nullable(),
  value: z.string(),
  input: z.string(),
  blockNumber: z.string().nullable(),
});
export type Transaction = z.infer<typeof TRANSACTION>;

export const BLOCK = z.looseObject({
  number: z.string(),
  hash: z.string(),
  parentHash: z.string(),
  timestamp: z.string(),
  transactions: z.array(TRANSACTION),
});
export type Block = z.infer<typeof BLOCK>;

const LOG = z.looseObject({
  address: z.string(),
  topics: z.array(z.string()),
  data: z.string(),
  transactionHash: z.string(),
  blockNumber: z.string(),
});
export type Log = z.infer<typeof LOG>;
export const LOGS = z.array(LOG);

export const RECEIPT = z.looseObject({
  status: z.string(),
  blockNumber: z.string(),
  transactionHash: z.string(),
  logs: LOGS,
});
export type Receipt = z.infer<typeof RECEIPT>;

/** A call as geth's callTracer returns it. */
export const CALL = z.object({
  from: z.string(),
  to: z.string().optional(),
  value: z.string().optional(),
  error: z.string().optional(),
  get calls() {
    return z.array(CALL).optional();
  },
});
export type Call = z.infer<typeof CALL>;
