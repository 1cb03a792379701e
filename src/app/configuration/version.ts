/** The version in `/healthz` and the OpenAPI document. Equals the one in package.json, as a test checks; see docs/operations/releasing.md. */
export const VERSION = "1.0.0-beta.1";
