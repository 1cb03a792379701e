import { base64urlnopad } from "@scure/base";
import { describe, expect, test } from "vitest";
import { clientDataIn } from "../../../../src/accounts/passkeys/client-data.ts";
import { utf8ToBytes } from "../../../../src/lib/bytes.ts";

const ASKED = { type: "webauthn.get", challenge: "abc", origin: "https://pay.example.com" };
const encoded = (data: unknown) => base64urlnopad.encode(utf8ToBytes(JSON.stringify(data)));

describe("a browser's client data", () => {
  test.each<[string, object]>([
    ["only the required members", {}],
    ["crossOrigin false", { crossOrigin: false }],
    ["unknown members", { other_keys_can_be_added_here: "…" }],
    ["token binding supported", { tokenBinding: { status: "supported" } }],
    ["token binding not supported", { tokenBinding: { status: "not-supported" } }],
  ])("with %s is accepted", (_, more) => {
    expect(clientDataIn(encoded({ ...ASKED, ...more }))).toEqual(ASKED);
  });

  test.each<[string, object]>([
    ["crossOrigin true", { crossOrigin: true }],
    ["crossOrigin true as text", { crossOrigin: "true" }],
    ["a topOrigin", { topOrigin: "https://pay.example.com" }],
    ["a token binding, which we do not offer", { tokenBinding: { status: "present", id: "AAAA" } }],
    ["an unknown token binding status", { tokenBinding: { status: "" } }],
    ["a token binding without a status", { tokenBinding: {} }],
    ["a token binding that is not an object", { tokenBinding: "supported" }],
    ["no type", { type: undefined }],
    ["a type that is not text", { type: ["webauthn.get"] }],
    ["no challenge", { challenge: undefined }],
    ["a challenge that is not text", { challenge: 1 }],
    ["no origin", { origin: undefined }],
    ["an origin that is not text", { origin: [ASKED.origin] }],
  ])("with %s is refused", (_, more) => {
    expect(clientDataIn(encoded({ ...ASKED, ...more }))).toBeUndefined();
  });

  test.each([encoded(null), encoded("abc"), encoded([]), "", "A", "AAAA", "a=", "{}", "é", `${encoded(ASKED)}=`])(
    "is refused when it is %j",
    (text) => {
      expect(clientDataIn(text)).toBeUndefined();
    },
  );
});
