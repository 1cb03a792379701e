/** The version in `/healthz` and the OpenAPI document. A test checks that it equals the one in package.json; see docs/operations/releasing.md. */
export const VERSION = "1.0.0-beta.1";
