// The data of wallet events.
import type { WalletId } from "../../lib/ids.ts";
import type { WalletBody } from "./wallet-body.ts";

interface OfWallet {
  readonly walletId: WalletId;
  readonly wallet: WalletBody;
  readonly fingerprint: string | null;
  readonly previousFingerprint: string | null;
}

interface OfPair {
  readonly walletId: WalletId;
  readonly cryptocurrency: string;
  readonly network: string;
}

export interface WalletEvents {
  readonly "wallet.created": OfWallet;
  readonly "wallet.updated": OfWallet;
  readonly "wallet.deleted": OfWallet;
  readonly "wallet.gap_limit_warning": OfPair & { readonly gap: number; readonly nextIndex: number | null };
  readonly "wallet.amounts_low": OfPair & { readonly address: string; readonly amount: string };
}
