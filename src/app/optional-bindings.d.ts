/** Bindings that a deployment may have (docs/operations/deploy.md). Written by hand: wrangler only generates types for those in wrangler.toml. */
interface OptionalBindings {
  /** Where merchants' rows are exported to every night. */
  readonly EXPORTS?: R2Bucket | undefined;
}
interface __BaseEnv_Env extends OptionalBindings {}
