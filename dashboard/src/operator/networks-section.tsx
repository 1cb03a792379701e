import { Badge, Divider, Group, Progress, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import type { DeploymentStatus, NetworkState } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { CodeBlock } from "../shell/code-block.tsx";
import { networkName } from "../shell/coin-name.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { RereadButton } from "./reread-button.tsx";
import { READ_AGAIN_MS, useStatus } from "./use-status.ts";

type Health = DeploymentStatus["networks"][number];

/** What to put there: docs/guides/watching-chains.md. */
const SET_SOURCES = "npm run wrangler -- secret put CHAIN_SOURCES --name <name of the deployment>";

/** While a range is being reread, its progress is shown. */
const READ_SOON_MS = 3_000;

export function NetworksSection() {
  const networks = useList("listNetworks", {}, (read) => (read?.data.some(isRereading) ? READ_SOON_MS : READ_AGAIN_MS));
  const status = useStatus();
  return (
    <Section
      title="Networks"
      about="How far each chain has been read, and what to do if you cannot trust its data source. Sources and their keys are a secret of the deployment, which no page can read or change: this command does."
    >
      <CodeBlock name="The command that sets sources" code={SET_SOURCES} />
      <Read query={networks}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed">No network has a source yet: set CHAIN_SOURCES.</Text>
          ) : (
            <Stack>
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
          )
        }
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
      <Sources sources={network.sources} />
      {network.reread !== null && <RereadLine network={network.network} reread={network.reread} />}
    </Stack>
  );
}

function State({ network: { pausedAt, hasSource, isResting }, health }: Props) {
  if (pausedAt !== null) return <Badge color="orange">Paused</Badge>;
  if (!hasSource) return <Badge color="gray">No source</Badge>;
  if (health !== undefined && health.degradedSince !== null) return <Badge color="red">Source fails</Badge>;
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
      {quarantined > 0 && `, ${count(quarantined)} ${quarantined === 1 ? "address" : "addresses"} read apart`}
      {pausedAt !== null && (
        <>
          , paused since <Time value={pausedAt} />
        </>
      )}
    </Text>
  );
}

/** Named by their places in the setting, because their addresses may hold keys. */
function Sources({ sources }: Pick<NetworkState, "sources">) {
  return sources.map(({ kind, failures, lastOutage, askedAgainAt }, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a source is its place in the setting
    <Text key={place} size="sm" component="div">
      Source {place + 1}, <span className="mono">{kind}</span>:{" "}
      {failures === 0 ? (
        "no failure when it was asked last"
      ) : (
        <>
          {lastOutage === "BANNED" || lastOutage === "RATE_LIMITED" ? "refuses further requests" : "fails"} (
          {lastOutage}, {failures} in a row)
          {askedAgainAt !== null && (
            <>
              ; asked again from <Time value={askedAgainAt} />
            </>
          )}
        </>
      )}
    </Text>
  ));
}

function PauseButton({ network: { network, pausedAt } }: Pick<Props, "network">) {
  const params = { network };
  const pause = useChange("pauseNetwork", { onSuccess: () => showDone(`${networkName(network)} is paused.`) });
  const resume = useChange("resumeNetwork", { onSuccess: () => showDone(`${networkName(network)} is read again.`) });
  return pausedAt === null ? (
    <ConfirmButton
      action="Pause"
      subject={network}
      size="xs"
      isBusy={pause.isPending}
      consequence={
        <>
          <strong>{networkName(network)}</strong> is read no further, and payers are not offered it. Invoices that wait
          for it stay open, however long the pause is; nobody sees their payments until you resume.
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
          <strong>{networkName(network)}</strong> is read on from where it was. Payments of the meantime are found and
          count as of their own time. If its source has lied, change it first.
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
  const end = useChange("endReread", { onSuccess: () => showDone("The range is not read any further.") });
  const range = `blocks ${count(fromHeight)} to ${count(toHeight)}`;
  const found = `${count(transfers)} ${transfers === 1 ? "transfer" : "transfers"} found`;
  const skipped = skippedAddresses === 0 ? "" : `, ${count(skippedAddresses)} addresses not answered for`;
  if (endedAt !== null) {
    return (
      <Text size="sm" component="div">
        Read again <Time value={endedAt} />: {range}, {found}
        {skipped}.
      </Text>
    );
  }
  return (
    <Group gap="sm" align="center">
      <Stack gap={4} style={{ flex: "1 1 14rem" }}>
        <Text size="sm">
          Reading {range} again: {found}
          {skipped}.{lastOutage !== null && ` The source failed (${lastOutage}); it is asked again.`}
        </Text>
        <Progress value={100 * progress} aria-label={`How much of the range of ${network} has been read`} />
      </Stack>
      <ConfirmButton
        action="Stop"
        subject={`reading ${network} again`}
        size="xs"
        isBusy={end.isPending}
        consequence="What was found stays. The rest of the range is not read again."
        onConfirmed={() => end.mutate({ params: { network } })}
      />
    </Group>
  );
}
