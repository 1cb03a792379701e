// Who is calling, once proved. A `MerchantScope` is what stores take: it can only come out of the auth layer, so a query without a
// proved merchant does not compile.
import type { ApiKeyId, MerchantId } from "../lib/ids.ts";
import type { Permission } from "../teams/permissions.ts";
import type { KeyKind } from "./api-key.ts";

export interface ApiKeyPrincipal {
  readonly kind: "API_KEY";
  readonly keyKind: KeyKind;
  readonly keyId: ApiKeyId;
  readonly merchantId: MerchantId;
  readonly permissions: ReadonlySet<Permission>;
}
