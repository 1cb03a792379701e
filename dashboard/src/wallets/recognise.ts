// Recognises what kind of text was pasted, so that the form can say so at once. This only helps the user to choose: the service checks the text
// itself.
type Family = "bitcoin" | "evm" | "tron";

export type Recognised =
  | { readonly kind: "ADDRESS"; readonly family: Family; readonly coin?: "BTC" | "LTC" }
  /**
   * An account's extended public key, with the first level of its path. Wallet software writes Litecoin keys with Bitcoin's prefixes or with
   * Litecoin's own.
   */
  | { readonly kind: "XPUB"; readonly purpose: number; readonly coin?: "LTC" }
  | { readonly kind: "SECRET" }
  | { readonly kind: "UNKNOWN" };

const BASE58 = "[1-9A-HJ-NP-Za-km-z]";
const KEY = new RegExp(`^(xpub|ypub|zpub|Ltub|Mtub)${BASE58}{100,115}$`);
const SECRET_KEY = /^(xprv|yprv|zprv|tprv|Ltpv|Mtpv)/;
const PURPOSES: Readonly<Record<string, number>> = { xpub: 44, ypub: 49, zpub: 84, Ltub: 44, Mtub: 49 };

export function recognise(pasted: string): Recognised {
  const text = pasted.trim();
  const words = text.split(/\s+/).length;
  if (SECRET_KEY.test(text) || words >= 12 || /^(0x)?[0-9a-fA-F]{64}$/.test(text)) return { kind: "SECRET" };
  const [, prefix] = KEY.exec(text) ?? [];
  if (prefix !== undefined)
    return { kind: "XPUB", purpose: PURPOSES[prefix] ?? 84, ...(prefix.endsWith("tub") ? { coin: "LTC" } : {}) };
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return { kind: "ADDRESS", family: "evm" };
  if (new RegExp(`^T${BASE58}{33}$`).test(text)) return { kind: "ADDRESS", family: "tron" };
  if (/^bc1[0-9a-z]{39,59}$/.test(text) || new RegExp(`^[13]${BASE58}{25,34}$`).test(text))
    return { kind: "ADDRESS", family: "bitcoin", coin: "BTC" };
  if (/^ltc1[0-9a-z]{39,59}$/.test(text) || new RegExp(`^[LM]${BASE58}{26,33}$`).test(text))
    return { kind: "ADDRESS", family: "bitcoin", coin: "LTC" };
  return { kind: "UNKNOWN" };
}

/** Describes what was recognised; undefined if nothing was. */
export function recognisedText(recognised: Recognised): string | undefined {
  switch (recognised.kind) {
    case "ADDRESS":
      if (recognised.family === "evm") return "An address on Ethereum and compatible networks.";
      if (recognised.family === "tron") return "A TRON address.";
      return recognised.coin === "BTC" ? "A Bitcoin address." : "A Litecoin address.";
    case "XPUB":
      return "An extended public key: every invoice gets its own address.";
    case "SECRET":
      return "This looks like a private key or recovery phrase. Never paste it anywhere. Use an address or a public key.";
    case "UNKNOWN":
      return undefined;
  }
}
