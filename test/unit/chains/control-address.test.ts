import { expect, test } from "vitest";
import { parseAddress } from "../../../src/chains/dispatch/address.ts";
import { controlAddress } from "../../../src/chains/dispatch/control-address.ts";
import { NETWORKS } from "../../../src/chains/registry/networks.ts";

test.each(NETWORKS.map((network) => [network.name, network] as const))(
  "the control address of %s is a valid address of that network",
  (_, network) => {
    expect(parseAddress(network, controlAddress(network)).ok).toBe(true);
  },
);
