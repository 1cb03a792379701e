// The changes of an engineer who follows "Add a network" in CONTRIBUTING.md for Arbitrum Nova: a rollup with a block every 0.25 s, whose coin is ETH.
// The service does not support it, and its sources here are fictional.
import { before, behind, inPlaceOf, type Recipe } from "./recipe.ts";

const AFTER_OPTIMISM = behind('  | "OPTIMISM"\n', '  | "NOVA"\n');

export const NETWORK_RECIPE: Recipe = {
  title: "Add a network",
  additions: {
    "src/chains/registry/network.ts": [AFTER_OPTIMISM],
    "src/chains/registry/chain-traits.ts": [
      before(
        "/** A block is solidified after about 19 more blocks. */\n",
        `/** A committee keeps its batches; blocks and depths are those of Arbitrum. */
export const ANY_TRUST = { ...ARBITRUM_NITRO } as const;
`,
      ),
    ],
    "src/chains/registry/network-table.ts": [
      before("  ARBITRUM_NITRO,\n  BITCOIN,", "  ANY_TRUST,\n"),
      before(
        '  {\n    ...BITCOIN,\n    ...TEST,\n    name: "BTC_TESTNET",',
        `  {
    ...ANY_TRUST,
    ...MAIN,
    name: "NOVA",
    aliases: ["ARBITRUM_NOVA"],
    displayName: "Arbitrum Nova",
    chainId: 42_170,
    assets: [ETH, token("USDC", 6, "0x750ba8b76187092B0D1E87E28daaf484d1b5273b")],
  },
`,
      ),
    ],
    // No exchange has its own name for this network.
    "src/checkout/pay/coins.ts": [],
    // No source states the network's usual fee.
    "src/checkout/pay/usual-fee.ts": [],
    "scripts/deploy/public-sources.ts": [
      behind(
        '      { network: "OPTIMISM", url: "https://optimism.gateway.tenderly.co" },\n',
        '      { network: "NOVA", url: "https://nova.gateway.example" },\n',
      ),
      behind(
        '      { network: "OPTIMISM", url: "https://optimism.api.onfinality.io/public" },\n',
        '      { network: "NOVA", url: "https://nova.api.example/public" },\n',
      ),
    ],
    "README.md": [
      inPlaceOf("Arbitrum One and OP Mainnet with", "Arbitrum One, Arbitrum Nova and OP Mainnet with"),
      inPlaceOf("| ten, three of them rollups,", "| eleven, four of them rollups,"),
    ],
    "docs/guides/wallets.md": [
      behind("| `OPTIMISM` | ETH, USDC, DAI | 12 |\n", "| `NOVA` | ETH, USDC | 96 |\n"),
      inPlaceOf(
        "Base, Arbitrum One and OP Mainnet are rollups",
        "Base, Arbitrum One, Arbitrum Nova and OP Mainnet are rollups",
      ),
    ],
    "docs/guides/watching-chains.md": [
      inPlaceOf("CRO, BASE, ARBITRUM, OPTIMISM |", "CRO, BASE, ARBITRUM, OPTIMISM, NOVA |"),
      inPlaceOf("CRO, BASE, ARBITRUM, OPTIMISM:**", "CRO, BASE, ARBITRUM, OPTIMISM, NOVA:**"),
    ],
    // The page gives one pace for all rollups, and names explorers only as examples.
    "docs/operations/deploy.md": [],
    "docs/design/chains.md": [
      inPlaceOf("| ARBITRUM | 0.25 s |", "| ARBITRUM, NOVA | 0.25 s |"),
      behind("| OPTIMISM | USDC 6, DAI 18 |\n", "| NOVA | USDC 6 |\n"),
    ],
    "docs/design/decisions.md": [
      behind("| `OPTIMISM` | OP_MAINNET, OP | `OPTIMISM_SEPOLIA` | OP_SEPOLIA |\n", "| `NOVA` | ARBITRUM_NOVA | | |\n"),
    ],
    "test/unit/chains/networks.test.ts": [
      behind('    ["OPTIMISM", ["OP_Mainnet", "op"]],\n', '    ["NOVA", ["Arbitrum_Nova"]],\n'),
      behind('    ["ARBITRUM", 0.25, 4_800, 96, 128],\n', '    ["NOVA", 0.25, 4_800, 96, 128],\n'),
      inPlaceOf("expect(NETWORKS).toHaveLength(22);", "expect(NETWORKS).toHaveLength(23);"),
    ],
    "test/unit/scripts/deploy/public-sources.test.ts": [
      inPlaceOf("BASE, ARBITRUM, OPTIMISM: no source is named", "BASE, ARBITRUM, OPTIMISM, NOVA: no source is named"),
      inPlaceOf('"BASE", "ARBITRUM", "OPTIMISM"]);', '"BASE", "ARBITRUM", "OPTIMISM", "NOVA"]);'),
    ],
    "test/chain/detection/evm-networks.test.ts": [inPlaceOf('"OPTIMISM"] as const;', '"OPTIMISM", "NOVA"] as const;')],
  },
};
