/** The methods of an R2 bucket that exports use. */
export interface Bucket {
  get(key: string): Promise<{ text(): Promise<string> } | null>;
  put(key: string, value: string | Uint8Array): Promise<unknown>;
  list(of: { readonly prefix: string; readonly delimiter?: string; readonly cursor?: string }): Promise<{
    readonly objects: readonly { readonly key: string }[];
    readonly delimitedPrefixes: readonly string[];
    readonly truncated: boolean;
    readonly cursor?: string;
  }>;
  delete(keys: string[]): Promise<void>;
}
