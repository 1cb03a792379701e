// The library as deployed: without the packages that read certificates (`[alias]` in wrangler.toml).
import { expect, test } from "vitest";
import { bundleWorker } from "../../../../bench/bundle.ts";
import { clientDataIn } from "../../../../src/accounts/passkeys/client-data.ts";
import { type Algorithm, type Faults, softwareAuthenticator } from "../../../support/software-authenticator.ts";

const RELYING_PARTY = { id: "localhost", origin: "http://localhost:8787" };
const OPTIONS = { challenge: "Y2hhbGxlbmdl", user: { id: "dXNy" } };
const ALGORITHMS: readonly Algorithm[] = ["ES256", "EdDSA", "RS256"];
const ATTESTATIONS = ["packed", "packed with certificate", "fido-u2f", "apple", "tpm"] as const;

type Verifiers = typeof import("../../../../src/accounts/passkeys/verify-assertion.ts") &
  typeof import("../../../../src/accounts/passkeys/verify-attestation.ts");

async function bundled(): Promise<Verifiers> {
  const { code, metafile } = await bundleWorker({
    text: `export * from "./src/accounts/passkeys/verify-assertion.ts";
export * from "./src/accounts/passkeys/verify-attestation.ts";`,
  });
  expect(Object.keys(metafile.inputs).filter((path) => /@peculiar\/x509\/|reflect-metadata/.test(path))).toEqual([]);
  return import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
}

function clientOf(text: string) {
  const client = clientDataIn(text);
  if (client === undefined) throw new Error("no client data");
  return client;
}

test("the deployed library registers a passkey for each algorithm and accepts its signatures", async () => {
  const { madeCredentialOf, provedUseOf } = await bundled();
  for (const algorithm of ALGORITHMS) {
    const authenticator = await softwareAuthenticator({ algorithm });
    const created = await authenticator.create(OPTIONS);
    const client = clientOf(created.response.clientDataJSON);
    const made = await madeCredentialOf({ ...created, type: "public-key" }, client, RELYING_PARTY);
    const publicKey = made?.publicKey ?? "";
    const proved = async (faults: Faults) => {
      const answer = await authenticator.get(OPTIONS, faults);
      const of = { relyingParty: RELYING_PARTY, publicKey };
      return provedUseOf({ ...answer, type: "public-key" }, clientOf(answer.response.clientDataJSON), of);
    };
    expect(await proved({ counter: 7 })).toMatchObject({ counter: 7 });
    expect(await proved({ signature: (bytes) => bytes.map((byte, at) => (at === 40 ? byte ^ 1 : byte)) })).toBe(
      undefined,
    );
  }
});

test("the deployed library refuses attestation statements", async () => {
  const { madeCredentialOf } = await bundled();
  for (const attestation of ATTESTATIONS) {
    const created = await (await softwareAuthenticator()).create(OPTIONS, { attestation });
    const client = clientOf(created.response.clientDataJSON);
    expect(await madeCredentialOf({ ...created, type: "public-key" }, client, RELYING_PARTY)).toBe(undefined);
  }
});
