import { Badge, Button, Divider, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import type { ListedMember, TeamSecurity } from "../api/operations.ts";
import { reading, showDone, useChange } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { FACTORS, type MissingFactor } from "./factors.ts";
import { useMembers } from "./use-members.ts";

/** The factors that each member's account must have. Only the owner can change these requirements. */
export function SecuritySection() {
  const { id: merchantId } = useMerchant();
  const security = useQuery(reading("getTeamSecurity", { merchantId }));
  const methods = useQuery(reading("listSignInMethods", {}));
  const members = useMembers();
  const all = members.data ?? [];
  const providers = methods.data?.providers ?? [];
  const isOffered = (policy: TeamSecurity, factor: MissingFactor) => {
    const { field, provider } = FACTORS[factor];
    return provider === undefined || providers.includes(provider) || policy[field];
  };
  return (
    <Section
      title="Required sign-in methods"
      about="Members without a required method are locked out of this merchant until they add it on their Account page. API keys are not affected."
    >
      <Read query={security}>
        {(policy) => (
          <Stack>
            {Object.keys(FACTORS)
              .filter(isFactor)
              .filter((factor) => isOffered(policy, factor))
              .map((factor, place) => (
                <Fragment key={factor}>
                  {place > 0 && <Divider />}
                  <FactorRow
                    factor={factor}
                    isDemanded={policy[FACTORS[factor].field]}
                    lacking={all.filter(({ missing }) => missing.includes(factor))}
                    areAllRead={!members.hasNextPage}
                  />
                </Fragment>
              ))}
          </Stack>
        )}
      </Read>
    </Section>
  );
}

function isFactor(name: string): name is MissingFactor {
  return Object.hasOwn(FACTORS, name);
}

interface RowProps {
  readonly factor: MissingFactor;
  readonly isDemanded: boolean;
  /** Members without the factor, among those loaded so far. */
  readonly lacking: readonly ListedMember[];
  readonly areAllRead: boolean;
}

const NAMED = 5;

function FactorRow({ factor, isDemanded, lacking, areAllRead }: RowProps) {
  const { name, about } = FACTORS[factor];
  return (
    <Group justify="space-between" gap="sm">
      <Stack gap={2} style={{ flex: "1 1 16rem" }} miw={0}>
        <Group gap="xs">
          <Text fw={600}>{name}</Text>
          {isDemanded && <Badge color="green">Required</Badge>}
        </Group>
        <Text size="sm" c="dimmed">
          {about}
        </Text>
        {isDemanded && (
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {lackingText(lacking, areAllRead)}
          </Text>
        )}
      </Stack>
      <FactorSwitch factor={factor} isDemanded={isDemanded} />
    </Group>
  );
}

function lackingText(lacking: readonly ListedMember[], areAllRead: boolean): string {
  const others = areAllRead ? "" : " Members not shown above may not have it.";
  if (lacking.length === 0) return areAllRead ? "Everyone has it." : `Everyone shown above has it.${others}`;
  const names = lacking.slice(0, NAMED).map(({ name, email }) => name ?? email);
  const more = lacking.length - names.length;
  return `Locked out: ${names.join(", ")}${more > 0 ? `, and ${more} more` : ""}.${others}`;
}

function FactorSwitch({ factor, isDemanded }: Pick<RowProps, "factor" | "isDemanded">) {
  const { id: merchantId, role } = useMerchant();
  const { field, name, noun } = FACTORS[factor];
  const change = useChange("updateTeamSecurity", {
    onSuccess: (now) => showDone(now[field] ? `The team now requires ${noun}.` : `${name} is no longer required.`),
  });
  const turn = (isOn: boolean) => change.mutate({ merchantId, body: { [field]: isOn } });
  if (role !== "OWNER") return null;
  if (isDemanded) {
    return (
      <Button
        size="xs"
        variant="default"
        loading={change.isPending}
        aria-label={`Stop requiring: ${name}`}
        onClick={() => turn(false)}
      >
        Stop requiring
      </Button>
    );
  }
  return (
    <ConfirmButton
      action="Require"
      subject={name}
      size="xs"
      isBusy={change.isPending}
      consequence={`Every member without ${noun} will be locked out of this merchant immediately, until they add it. Tell them first. You can stop requiring it at any time.`}
      onConfirmed={() => turn(true)}
    />
  );
}
