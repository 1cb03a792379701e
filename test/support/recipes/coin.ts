// The changes of an engineer who follows "Add a coin" in CONTRIBUTING.md for LINK on Ethereum: a token with 18 decimals that is not a stablecoin.
import { behind, inPlaceOf, type Recipe } from "./recipe.ts";

export const COIN_RECIPE: Recipe = {
  title: "Add a coin",
  additions: {
    "src/chains/registry/network-table.ts": [
      behind(
        '      token("UNI", 18, "0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984"),\n',
        '      token("LINK", 18, "0x514910771aF9Ca656AF840DfF83e8364EcF986cA"),\n',
      ),
    ],
    "src/chains/registry/assets.ts": [inPlaceOf("{ UNI: [6], SHIB", "{ UNI: [6], LINK: [6], SHIB")],
    // LINK is not a stablecoin, so it has no peg.
    "src/rates/quote.ts": [],
    "src/rates/kraken-client.ts": [
      behind(
        '  UNI: { pair: "UNIUSD", key: "UNIUSD", isLasting: false },\n',
        '  LINK: { pair: "LINKUSD", key: "LINKUSD", isLasting: false },\n',
      ),
    ],
    "src/rates/coingecko-client.ts": [behind('  UNI: "uniswap",\n', '  LINK: "chainlink",\n')],
    "src/rates/fixed-rates.ts": [behind('  UNI: "8",\n', '  LINK: "15",\n')],
    "src/checkout/pay/coins.ts": [behind('  UNI: "Uniswap",\n', '  LINK: "Chainlink",\n')],
    "src/checkout/pay/coin-mark.tsx": [
      behind(
        '  UNI: ["#d6107a", "M8 6.5v6a4 4 0 0 0 8 0v-6"],\n',
        '  LINK: ["#2a52be", "M12 5l6 3.5v7L12 19l-6-3.5v-7z"],\n',
      ),
    ],
    "docs/guides/wallets.md": [inPlaceOf("PYUSD, UNI, SHIB |", "PYUSD, UNI, LINK, SHIB |")],
    "docs/guides/invoices.md": [inPlaceOf("one of the 15 cryptocurrencies", "one of the 16 cryptocurrencies")],
    "docs/design/chains.md": [
      inPlaceOf("UNI 18, SHIB 18 |", "UNI 18, LINK 18, SHIB 18 |"),
      inPlaceOf("| POL, CRO, TRX, UNI |", "| POL, CRO, TRX, UNI, LINK |"),
    ],
    "test/support/rate-payloads.ts": [
      inPlaceOf('"UNI":"0.125",', '"UNI":"0.125","LINK":"0.0666666666666667",'),
      behind('  ticker("UNIUSD", "8.0100", "7.9900"),\n', '  ticker("LINKUSD", "15.01000", "14.99000"),\n'),
      behind('    ["uniswap", "8.002"],\n', '    ["chainlink", "15.003"],\n'),
    ],
    "test/unit/chains/networks.test.ts": [
      behind('    ["ETH", "UNI", 18],\n', '    ["ETH", "LINK", 18],\n'),
      behind('    ["ETH", "UNI", 10n ** 12n, []],\n', '    ["ETH", "LINK", 10n ** 12n, []],\n'),
      behind('      "UNI",\n', '      "LINK",\n'),
    ],
    "test/contract/2.2-amounts.test.ts": [behind('    "UNI",\n', '    "LINK",\n')],
    // Generated.
    "client/api-types.ts": [],
  },
};
