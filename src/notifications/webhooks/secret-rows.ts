import type { SealedRows } from "../../platform/keys/keyed-rows.ts";
import { secretContext } from "./webhook.ts";

export const WEBHOOK_SECRET_ROWS: SealedRows = {
  kind: "webhookSecrets",
  keyring: "SECRETS_AES_KEY",
  table: "webhook_secrets",
  column: "sealed",
  id: "id",
  contextOf: secretContext,
};
