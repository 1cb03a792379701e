// The published signing keys, and that workerd signs as RFC 8032 specifies.
import { env } from "cloudflare:workers";
import { base64, base64urlnopad } from "@scure/base";
import { expect, it } from "vitest";
import { returnDependencies } from "../../../src/checkout/signed-redirect/dependencies.ts";
import { returnText } from "../../../src/checkout/signed-redirect/return-url.ts";
import { returnUrlFor } from "../../../src/checkout/signed-redirect/sign-return.ts";
import { expectHeaders, send, sendWith } from "../../support/access.ts";

const PATH = "/.well-known/edgetill-keys.json";
/** RFC 8032 7.1, test 1: the public key of the seed in the tests' SIGNING_KEY. */
const X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const keyOf = (kid: string, x: string) => ({ kty: "OKP", crv: "Ed25519", kid, x, use: "sig", alg: "EdDSA" });

it("the public keys can be read from any origin, and cached for five minutes", async () => {
  const answer = await send(PATH);
  expectHeaders(answer);
  expect([answer.status, answer.json]).toEqual([200, { keys: [keyOf("test", X)] }]);
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.headers.get("cache-control")).toBe("public, max-age=300");
});

it("during a rotation both keys are published, the signing one first", async () => {
  const next = `next:${base64.encode(new Uint8Array(32).fill(7))}`;
  const { json } = await sendWith({ SIGNING_KEY: `${next},${env.SIGNING_KEY}` }, PATH);
  expect(json).toEqual({ keys: [keyOf("next", expect.any(String)), keyOf("test", X)] });
});

it("without a valid SIGNING_KEY no key is published, and the response is not cached", async () => {
  const answer = await sendWith({ SIGNING_KEY: "test:hunter2" }, PATH);
  expect([answer.status, answer.json, answer.headers.get("cache-control")]).toEqual([200, { keys: [] }, "no-store"]);
});

it("a return URL signed in workerd is verified by the published key", async () => {
  const of = { invoiceId: "inv_01M7ZZZZZZZZZZZZZZZZZZZZZZ", status: "PAID", nowMs: 1_795_262_400_000 } as const;
  const url = await returnUrlFor(returnDependencies(env), { ...of, redirectUrl: "https://shop.example/thanks" });
  const { keyId, signature = "" } = Object.fromEntries(new URL(url).searchParams);
  expect(keyId).toBe("test");
  const key = await crypto.subtle.importKey("raw", base64urlnopad.decode(X), "Ed25519", false, ["verify"]);
  const signed = new TextEncoder().encode(returnText(of));
  expect(await crypto.subtle.verify("Ed25519", key, base64urlnopad.decode(signature), signed)).toBe(true);
});
