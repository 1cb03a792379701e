import { Alert, Badge, Divider, Group, Progress, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import type { DeploymentStatus, NetworkState } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { CodeToCopy } from "../shell/code-to-copy.tsx";
import { networkName } from "../shell/coin-name.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { NetworkSources, TrySources } from "./network-sources.tsx";
import { RereadButton } from "./reread-button.tsx";
import { setCommand } from "./set-command.ts";
import { READ_AGAIN_MS, useStatus } from "./use-status.ts";

type Health = DeploymentStatus["networks"][number];

/** How often progress is read while a range is being read again. */
const READ_SOON_MS = 3_000;

export function NetworksSection() {
  const networks = useList("listNetworks", {}, (read) => (read?.data.some(isRereading) ? READ_SOON_MS : READ_AGAIN_MS));
  const status = useStatus();
  return (
    <Section
      title="Networks"
      about="How far each chain has been read, how its data sources are, and what to do if you cannot trust one. Data sources and their keys are stored in a secret that no page can read or change. This command replaces it:"
    >
      <CodeToCopy
        name="Command that sets data sources"
        noun="the command"
        code={setCommand("CHAIN_SOURCES", location.hostname)}
      />
      <Read query={networks}>
        {({ data, settingError }) => (
          <Stack>
            {settingError !== null && (
              <Alert color="red" title="No network is read">
                {settingError}. Correct the setting: until then no payment is seen.
              </Alert>
            )}
            {data.length === 0 && <Text c="dimmed">No network has a data source yet. Add one below.</Text>}
            {data.map((network, place) => (
              <Fragment key={network.network}>
                {place > 0 && <Divider />}
                <NetworkRow
                  network={network}
                  health={status.data?.networks.find((each) => each.network === network.network)}
                />
              </Fragment>
            ))}
          </Stack>
        )}
      </Read>
    </Section>
  );
}

function isRereading({ reread }: NetworkState): boolean {
  return reread !== null && reread.endedAt === null;
}

interface Props {
  readonly network: NetworkState;
  /** Undefined until read. */
  readonly health: Health | undefined;
}

function NetworkRow({ network, health }: Props) {
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="sm">
        <Stack gap={2} style={{ flex: "1 1 16rem" }} miw={0}>
          <Group gap="xs">
            <Text fw={600}>{networkName(network.network)}</Text>
            <State network={network} health={health} />
          </Group>
          <Place network={network} health={health} />
        </Stack>
        <Group gap="xs">
          {network.hasSource && network.cursorHeight !== null && !isRereading(network) && (
            <RereadButton network={network.network} cursorHeight={network.cursorHeight} />
          )}
          <PauseButton network={network} />
        </Group>
      </Group>
      <NetworkSources sources={network.sources} />
      {network.hasSource && <TrySources network={network.network} />}
      {network.reread !== null && <RereadLine network={network.network} reread={network.reread} />}
    </Stack>
  );
}

function State({ network: { pausedAt, hasSource, isResting }, health }: Props) {
  if (pausedAt !== null) return <Badge color="orange">Paused</Badge>;
  if (!hasSource) return <Badge color="gray">No source</Badge>;
  if (health !== undefined && health.degradedSince !== null) return <Badge color="red">Source failing</Badge>;
  return isResting ? <Badge color="gray">Nothing to watch</Badge> : <Badge color="green">Reading</Badge>;
}

function Place({ network: { cursorHeight, tipHeight, pausedAt }, health }: Props) {
  const { count, duration } = useFormats();
  const lag = health?.lagSeconds ?? null;
  const quarantined = health?.quarantinedAddresses ?? 0;
  return (
    <Text size="sm" c="dimmed" component="div" className="numbers">
      {cursorHeight === null
        ? "Not read yet"
        : `Block ${count(cursorHeight)}${tipHeight === null ? "" : ` of ${count(tipHeight)}`}`}
      {lag !== null && `, ${duration(lag)} behind`}
      {quarantined > 0 && `, ${count(quarantined)} ${quarantined === 1 ? "address" : "addresses"} read separately`}
      {pausedAt !== null && (
        <>
          , paused since <Time value={pausedAt} />
        </>
      )}
    </Text>
  );
}

function PauseButton({ network: { network, pausedAt } }: Pick<Props, "network">) {
  const params = { network };
  const pause = useChange("pauseNetwork", { onSuccess: () => showDone(`${networkName(network)} paused.`) });
  const resume = useChange("resumeNetwork", { onSuccess: () => showDone(`${networkName(network)} resumed.`) });
  return pausedAt === null ? (
    <ConfirmButton
      action="Pause"
      subject={network}
      size="xs"
      isBusy={pause.isPending}
      consequence={
        <>
          <strong>{networkName(network)}</strong> will no longer be read or offered to customers. Invoices that await
          payment on it stay open during the pause, and payments to them are detected once you resume.
        </>
      }
      onConfirmed={() => pause.mutate({ params })}
    />
  ) : (
    <ConfirmButton
      action="Resume"
      subject={network}
      size="xs"
      isBusy={resume.isPending}
      consequence={
        <>
          <strong>{networkName(network)}</strong> will be read again from where it stopped. Payments made during the
          pause are found and count from the time they were made. If its data source gave wrong data, replace it first.
        </>
      }
      onConfirmed={() => resume.mutate({ params })}
    />
  );
}

interface RereadProps {
  readonly network: string;
  readonly reread: NonNullable<NetworkState["reread"]>;
}

function RereadLine({ network, reread }: RereadProps) {
  const { count } = useFormats();
  const { fromHeight, toHeight, progress, transfers, skippedAddresses, lastOutage, endedAt } = reread;
  const end = useChange("endReread", { onSuccess: () => showDone("Rescan stopped.") });
  const range = `blocks ${count(fromHeight)} to ${count(toHeight)}`;
  const found = `${count(transfers)} ${transfers === 1 ? "transfer" : "transfers"} found`;
  const skipped =
    skippedAddresses === 0
      ? ""
      : `, ${count(skippedAddresses)} ${skippedAddresses === 1 ? "address" : "addresses"} skipped`;
  if (endedAt !== null) {
    return (
      <Text size="sm" component="div">
        Rescanned <Time value={endedAt} />: {range}, {found}
        {skipped}.
      </Text>
    );
  }
  return (
    <Group gap="sm" align="center">
      <Stack gap={4} style={{ flex: "1 1 14rem" }}>
        <Text size="sm">
          Rescanning {range}: {found}
          {skipped}.{lastOutage !== null && ` The data source failed (${lastOutage}) and will be retried.`}
        </Text>
        <Progress value={100 * progress} aria-label={`Rescan progress for ${network}`} />
      </Stack>
      <ConfirmButton
        action="Stop"
        subject={`${network} rescan`}
        size="xs"
        isBusy={end.isPending}
        consequence="Transfers found so far are kept. The rest of the range is not rescanned."
        onConfirmed={() => end.mutate({ params: { network } })}
      />
    </Group>
  );
}
