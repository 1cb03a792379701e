// The data sources of one network: the last answer and the last failure of each, and a button to try them all.
import { Alert, Button, Stack, Text } from "@mantine/core";
import type { NetworkState, NetworkTrial } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { networkName } from "../shell/coin-name.ts";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";

type Source = NetworkState["sources"][number];
type Trial = NetworkTrial["data"][number];

export function NetworkSources({ sources }: Pick<NetworkState, "sources">) {
  return sources.map((source, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a source is its place in the setting
    <SourceLines key={place} source={source} place={place} />
  ));
}

interface NameProps {
  readonly source: Pick<Source, "kind" | "host" | "role">;
  /** Counted from 0. */
  readonly place: number;
}

/** `Source 1, evm-rpc at node.example (read first)` */
function SourceName({ source: { kind, host, role }, place }: NameProps) {
  return (
    <>
      Source {place + 1}, <span className="mono">{kind}</span> at <span className="mono">{host}</span> (
      {role === "FIRST" ? "read first" : "second opinion"})
    </>
  );
}

function SourceLines({ source, place }: { readonly source: Source; readonly place: number }) {
  const { count } = useFormats();
  const { answeredAt, height, lastFailure, mostAddresses } = source;
  return (
    <Stack gap={0}>
      <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
        <SourceName source={source} place={place} />
        <Condition source={source} />
      </Text>
      <Text size="sm" c="dimmed" component="div" className="numbers">
        {answeredAt === null ? (
          "Not asked yet"
        ) : (
          <>
            Last answered <Time value={answeredAt} />
          </>
        )}
        {height !== null && `, block ${count(height)}`}
        {mostAddresses !== null && `, at most ${count(mostAddresses)} addresses per request`}
      </Text>
      {lastFailure !== null && (
        <Text size="sm" c="dimmed" component="div">
          Last failure <Time value={lastFailure.at} />: {lastFailure.message}. {lastFailure.nextStep}
        </Text>
      )}
    </Stack>
  );
}

function Condition({ source: { failures, lastOutage, askedAgainAt } }: { readonly source: Source }) {
  if (failures === 0) return null;
  const isRefusing = lastOutage === "BANNED" || lastOutage === "RATE_LIMITED";
  return (
    <>
      : {isRefusing ? "refusing requests" : "failing"} ({lastOutage}, {failures} in a row)
      {askedAgainAt !== null && (
        <>
          ; next request at <Time value={askedAgainAt} />
        </>
      )}
    </>
  );
}

/** Asks every source of the network now and shows the results. */
export function TrySources({ network }: Pick<NetworkState, "network">) {
  const trial = useChange("tryNetworkSources", { isRepeatable: false });
  const isWell = trial.data?.data.every(({ outcome }) => outcome === "OK") === true;
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        size="xs"
        variant="default"
        aria-label={`Try sources: ${network}`}
        loading={trial.isPending}
        onClick={() => trial.mutate({ params: { network } })}
      >
        Try sources
      </Button>
      {trial.data !== undefined && (
        <Alert
          w="100%"
          color={isWell ? "green" : "red"}
          role="status"
          title={
            isWell
              ? `Every source of ${networkName(network)} works`
              : `Some sources of ${networkName(network)} do not work`
          }
        >
          <Stack gap="xs">
            {trial.data.data.map((source, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a source is its place in the setting
              <TrialLine key={place} source={source} place={place} />
            ))}
          </Stack>
        </Alert>
      )}
    </Stack>
  );
}

function TrialLine({ source, place }: { readonly source: Trial; readonly place: number }) {
  const { count } = useFormats();
  const { outcome, height, latencyMs, failure, warning, askedAgainAt } = source;
  const isRefusing = outcome === "NOT_ASKED";
  return (
    <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
      <SourceName source={source} place={place} />:{" "}
      {outcome === "OK" &&
        height !== null &&
        latencyMs !== null &&
        `works, block ${count(height)} in ${count(latencyMs)} ms. `}
      {isRefusing && "not asked. "}
      {failure !== null && `${failure.message}. ${failure.nextStep} `}
      {warning !== null && `${warning.message}. ${warning.nextStep} `}
      {askedAgainAt !== null && (
        <>
          Next request at <Time value={askedAgainAt} />.
        </>
      )}
    </Text>
  );
}
