// What a node of TRON tells of its chain, in Ethereum's own shapes.

export interface Transaction {
  readonly hash: string;
  readonly from: string;
  readonly to: string | null;
  readonly value: string;
  readonly input: string;
  readonly blockNumber: string | null;
}

export interface Block {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly transactions: readonly Transaction[];
}

export interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
  readonly blockNumber: string;
}

export interface Receipt {
  readonly status: string;
  readonly blockNumber: string;
  readonly transactionHash: string;
  readonly logs: readonly Log[];
}

/** As geth's callTracer tells it. */
export interface Call {
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly error?: string;
  readonly calls?: readonly Call[];
}
