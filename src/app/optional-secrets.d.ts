/**
 * Secrets that a deployment may have in addition to MASTER_KEY, the only required one (docs/operations/deploy.md). Written by hand: wrangler only
 * generates types for required ones.
 */
interface OptionalSecrets {
  readonly ROW_MAC_KEY?: string | undefined;
  readonly CODE_PEPPER?: string | undefined;
  readonly SECRETS_AES_KEY?: string | undefined;
  readonly SIGNING_KEY?: string | undefined;
  readonly API_KEY_MAC_KEY?: string | undefined;
  readonly CHAIN_SOURCES?: string | undefined;
  readonly CHAIN_SOURCES_2?: string | undefined;
  readonly CHAIN_SOURCES_3?: string | undefined;
  readonly CHAIN_SOURCES_4?: string | undefined;
  readonly CHAIN_SOURCES_5?: string | undefined;
  readonly CHAIN_SOURCES_6?: string | undefined;
  readonly CHAIN_SOURCES_7?: string | undefined;
  readonly CHAIN_SOURCES_8?: string | undefined;
  readonly CHAIN_SOURCES_9?: string | undefined;
  readonly SIGN_IN_PROVIDERS?: string | undefined;
  readonly MAIL_PROVIDER?: string | undefined;
  readonly TURNSTILE_SECRET_KEY?: string | undefined;
  readonly METRICS_TOKEN?: string | undefined;
  readonly ALERT_WEBHOOK_URL?: string | undefined;
  readonly ALERT_WEBHOOK_SECRET?: string | undefined;
}
/** Bindings that only some deployments have. */
interface OptionalBindings {
  /** Data points (docs/operations/monitoring.md). */
  readonly ANALYTICS?: AnalyticsEngineDataset | undefined;
}
interface __BaseEnv_Env extends OptionalSecrets, OptionalBindings {}
