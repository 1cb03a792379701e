// A step of a set-up for a deployment that reads no network: the new operator chooses public data sources, adds them by a command, and tries them. It
// can be skipped.
import { Alert, Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { NETWORKS } from "../../../src/chains/registry/networks.ts";
import type { NetworkStateList } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { TrySources } from "../operator/network-sources.tsx";
import { PublicSources, watchedIn } from "../operator/public-sources.tsx";
import { networkName } from "../shell/coin-name.ts";
import { Read } from "../shell/read.tsx";
import { Entrance } from "../sign-in/entrance.tsx";

/** How often the page checks whether the sources have been added. */
const LOOKS_EVERY_MS = 3_000;

export function SourcesStep({ onDone }: { readonly onDone: () => void }) {
  const networks = useList("listNetworks", {}, () => LOOKS_EVERY_MS);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const isAnyWatched = networks.data !== undefined && watchedIn(networks.data).size > 0;
  return (
    <Entrance
      title="Choose data sources"
      about="Payments are read from a data source of each network; a network without one takes none. These public ones need no account. None of them was tried by this project."
    >
      <Stack>
        <Read query={networks}>
          {(read) => (
            <>
              {read.settingError !== null && (
                <Alert color="red" title="No network is read">
                  {read.settingError}. Correct the setting: until then no payment is seen.
                </Alert>
              )}
              <PublicSources networks={read} chosen={chosen} onChosen={setChosen} />
              <Added networks={read} chosen={chosen} />
            </>
          )}
        </Read>
        <Button variant={isAnyWatched ? "filled" : "subtle"} onClick={onDone}>
          {isAnyWatched ? "Continue" : "Skip for now"}
        </Button>
        <Text size="sm" c="dimmed">
          You can do this later on the Operator page. For more than the first payments use your own node, or a vendor’s
          service with a key: see the guide “Watching chains”.
        </Text>
      </Stack>
    </Entrance>
  );
}

interface AddedProps {
  readonly networks: Pick<NetworkStateList, "data">;
  readonly chosen: readonly string[];
}

/** The networks that have a source by now, with a trial, and the chosen ones that still lack one. */
function Added({ networks, chosen }: AddedProps) {
  const watched = watchedIn(networks);
  const missing = NETWORKS.flatMap(({ name }) => (chosen.includes(name) && !watched.has(name) ? [name] : []));
  return (
    <>
      {[...watched].map((network) => (
        <Stack key={network} gap="xs">
          <Text fw={600}>{networkName(network)} has a source now</Text>
          <TrySources network={network} />
        </Stack>
      ))}
      {missing.length > 0 && (
        <Text size="sm" role="status">
          No source yet: {missing.map(networkName).join(", ")}. This page looks every few seconds, and lets you try each
          as soon as it is added.
        </Text>
      )}
    </>
  );
}
