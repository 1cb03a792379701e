// Every change of a product that stands: read, decide, one batch with its audit entry. `updated_at_ms` moves on with every change and is
// what the batch rests on; whoever lost reads again and decides again, five times, then 503 (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import { commitAudited } from "../audit/commit-audited.ts";
import type { AuditEntry, Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { FetchImage } from "./fetch-image.ts";
import type { Product } from "./product.ts";
import { assertProductAsRead, selectLiveProduct, updateLiveProduct } from "./store.ts";

const MAX_TRIES = 5;

export interface ProductEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  /** Our own origin, without a slash at its end. */
  readonly publicUrl: string;
  /** How an image is asked of another host. */
  readonly fetch: FetchImage;
  newOperationId(): string;
}

export interface ProductChange {
  readonly columns: Partial<Product>;
  readonly entry: Pick<AuditEntry, "action" | "before" | "after">;
  readonly statements?: readonly BatchItem<"sqlite">[];
}

/** `decide` is asked again with the product as it then stands; undefined means that there is nothing to do. Answers it as it then is. */
export async function changeProduct(
  fx: ProductEffects,
  of: { readonly read: Product; readonly trail: Trail },
  decide: (product: Product) => ProductChange | undefined,
): Promise<Result<Product, Failure>> {
  const { id, merchantId } = of.read;
  let product: Product | undefined = of.read;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) {
      const again = await readWithRetry(fx.sleep, async () => selectLiveProduct(fx.db, merchantId, id));
      if (!again.ok) return again;
      product = again.value[0];
    }
    if (product === undefined) return err({ code: "PRODUCT_NOT_FOUND" });
    const change = decide(product);
    if (change === undefined) return ok(product);
    const columns = { ...change.columns, updatedAtMs: Math.max(fx.nowMs, product.updatedAtMs + 1) };
    const auditId = derivedId("aud", fx.newOperationId());
    const committed = await commitAudited(fx, auditId, [
      assertProductAsRead(fx.db, product),
      ...(change.statements ?? []),
      updateLiveProduct(fx.db, product, columns),
      insertAudit(fx.db, of.trail, { id: auditId, merchantId, target: id, ...change.entry }, fx.nowMs),
    ]);
    if (committed.kind === "stands") return ok({ ...product, ...columns });
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (committed.conflict.kind !== "assertion")
      throw new Error(`a change of a product met ${committed.conflict.table}`);
  }
  return err({ code: "CONTENTION" });
}
