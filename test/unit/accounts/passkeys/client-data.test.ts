import { base64urlnopad } from "@scure/base";
import { describe, expect, test } from "vitest";
import { clientDataIn } from "../../../../src/accounts/passkeys/client-data.ts";
import { utf8ToBytes } from "../../../../src/lib/bytes.ts";

const ASKED = { type: "webauthn.get", challenge: "abc", origin: "https://pay.example.com" };
const encoded = (data: unknown) => base64urlnopad.encode(utf8ToBytes(JSON.stringify(data)));

describe("what a browser says it was asked", () => {
  test.each<[string, object]>([
    ["nothing more", {}],
    ["no frame of another origin", { crossOrigin: false }],
    ["members that nobody knows", { other_keys_can_be_added_here: "…" }],
    ["a connection that could be bound", { tokenBinding: { status: "supported" } }],
    ["a connection that cannot be bound", { tokenBinding: { status: "not-supported" } }],
  ])("with %s is read", (_, more) => {
    expect(clientDataIn(encoded({ ...ASKED, ...more }))).toEqual(ASKED);
  });

  test.each<[string, object]>([
    ["a frame of another origin", { crossOrigin: true }],
    ["a frame of another origin in another spelling", { crossOrigin: "true" }],
    ["the page around it", { topOrigin: "https://pay.example.com" }],
    ["a binding that we did not offer", { tokenBinding: { status: "present", id: "AAAA" } }],
    ["a binding that nobody knows", { tokenBinding: { status: "" } }],
    ["a binding without a status", { tokenBinding: {} }],
    ["a binding that is no object", { tokenBinding: "supported" }],
    ["no type", { type: undefined }],
    ["a type that is no text", { type: ["webauthn.get"] }],
    ["no challenge", { challenge: undefined }],
    ["a challenge that is no text", { challenge: 1 }],
    ["no origin", { origin: undefined }],
    ["an origin that is no text", { origin: [ASKED.origin] }],
  ])("with %s is refused", (_, more) => {
    expect(clientDataIn(encoded({ ...ASKED, ...more }))).toBeUndefined();
  });

  test.each([encoded(null), encoded("abc"), encoded([]), "", "A", "AAAA", "a=", "{}", "é", `${encoded(ASKED)}=`])(
    "%j is none",
    (text) => {
      expect(clientDataIn(text)).toBeUndefined();
    },
  );
});
