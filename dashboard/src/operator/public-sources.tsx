// Public data sources to choose from, for networks without one: what each is, what its vendor learns, and the value and the commands that add it. It
// changes nothing itself, because sources are a secret that is only set from the command line.
import { Anchor, Badge, Checkbox, Group, Stack, Text } from "@mantine/core";
import { FEWER, type PublicSource, publicSourcesOf, settingOf } from "../../../scripts/deploy/public-sources.ts";
import { NETWORKS, type NetworkName } from "../../../src/chains/registry/networks.ts";
import type { NetworkStateList } from "../api/operations.ts";
import { CodeToCopy } from "../shell/code-to-copy.tsx";
import { networkName } from "../shell/coin-name.ts";
import { deployCommand, setCommand } from "./set-command.ts";

/** The networks that have a source. */
export function watchedIn({ data }: Pick<NetworkStateList, "data">): ReadonlySet<string> {
  return new Set(data.filter(({ hasSource }) => hasSource).map(({ network }) => network));
}

interface Props {
  readonly networks: Pick<NetworkStateList, "data" | "freeSetting">;
  readonly chosen: readonly string[];
  readonly onChosen: (chosen: readonly string[]) => void;
}

export function PublicSources({ networks, chosen, onChosen }: Props) {
  const watched = watchedIn(networks);
  const offered = NETWORKS.filter(({ name }) => !watched.has(name) && publicSourcesOf(name).length > 0);
  if (offered.length === 0)
    return <Text c="dimmed">Every network for which public sources are known has a source.</Text>;
  const names = offered.flatMap(({ name }) => (chosen.includes(name) ? [name] : []));
  return (
    <Stack>
      <Checkbox.Group label="Networks" value={[...chosen]} onChange={onChosen}>
        {[false, true].map((isTest) => (
          <Group key={String(isTest)} gap="md" mt={isTest ? "sm" : 4}>
            {offered.flatMap((network) =>
              network.isTest === isTest
                ? [<Checkbox key={network.name} value={network.name} label={networkName(network.name)} />]
                : [],
            )}
          </Group>
        ))}
      </Checkbox.Group>
      {names.flatMap(publicSourcesOf).map((source) => (
        <Offer key={source.url} source={source} />
      ))}
      {names.length > 0 && (
        <>
          <Meaning names={names} />
          <HowToAdd names={names} freeSetting={networks.freeSetting} isFirst={watched.size === 0} />
        </>
      )}
    </Stack>
  );
}

function Offer({ source }: { readonly source: PublicSource }) {
  const { network, vendor, kind, url, document, documentOf, readOn, limit, learns } = source;
  return (
    <Stack gap={2}>
      <Group gap="xs">
        <Text fw={600}>
          {networkName(network)}: {vendor}
        </Text>
        <Badge color="gray">Untried</Badge>
      </Group>
      <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
        <span className="mono">{kind}</span> at <span className="mono">{new URL(url).host}</span>, according to{" "}
        <Anchor href={document} target="_blank" rel="noreferrer" inherit underline="always">
          {documentOf === vendor ? "its own page" : `a page of ${documentOf}`}
        </Anchor>
        , read on {readOn}
      </Text>
      <Text size="sm" c="dimmed">
        Limits: {limit}
      </Text>
      <Text size="sm" c="dimmed">
        The vendor learns: {learns}
      </Text>
    </Stack>
  );
}

/** What limits and wrong data of public sources mean for payments. */
function Meaning({ names }: { readonly names: readonly NetworkName[] }) {
  const single = names.filter((name) => publicSourcesOf(name).length < 2);
  return (
    <>
      <Text size="sm">
        A source that finds requests too many refuses them for seconds at first and up to 10 minutes: if no other source
        is left, payments are seen that much later, but not lost.
      </Text>
      {single.length < names.length && (
        <Text size="sm">
          A vendor can be wrong or lie about a payment. A shop can require two vendors to agree from an amount on: set
          “Require two data sources from this amount” in its settings, which is empty at first.
        </Text>
      )}
      {single.map((name) => (
        <Text key={name} size="sm">
          {networkName(name)} has one public source, which no other can contradict: {FEWER[name]}.
        </Text>
      ))}
    </>
  );
}

interface HowToAddProps {
  readonly names: readonly NetworkName[];
  readonly freeSetting: string | null;
  /** Whether the deployment has no sources yet, so that a deploy can try and add them. */
  readonly isFirst: boolean;
}

function HowToAdd({ names, freeSetting, isFirst }: HowToAddProps) {
  const isByDeploy = isFirst && freeSetting === "CHAIN_SOURCES";
  return (
    <Stack gap="xs">
      {isByDeploy && (
        <>
          <Text size="sm">
            Run this command in the folder you deployed from. It tries each source from your computer, leaves out those
            that fail, and keeps the others in secrets.env.
          </Text>
          <CodeToCopy
            name="Command that tries and adds the sources"
            noun="the command"
            code={deployCommand(names, location.hostname)}
          />
          <Text size="sm">Without that folder, such as after the button “Deploy to Cloudflare”:</Text>
        </>
      )}
      {freeSetting === null ? (
        <Text size="sm">
          CHAIN_SOURCES and its parts up to CHAIN_SOURCES_9 all have values. Add this to the copy that you keep of one
          of them, and set it again:
        </Text>
      ) : (
        <Text size="sm">
          Run this command and paste the value below it.
          {!isFirst && ` ${freeSetting} is free, so the sources you already have stay as they are.`}
        </Text>
      )}
      <CodeToCopy
        name="Command that adds the sources"
        noun="this command"
        code={setCommand(freeSetting ?? "CHAIN_SOURCES", location.hostname)}
      />
      <CodeToCopy name="Value to paste" noun="the value" code={settingOf(names.flatMap(publicSourcesOf))} />
      <Text size="sm" c="dimmed">
        Keep the value in secrets.env of the deployment, too: nobody can read it back. To change the sources of one of
        these networks later, set {freeSetting ?? "the same part"} again. A network may be in one part only.
      </Text>
    </Stack>
  );
}
