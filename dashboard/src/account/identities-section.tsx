import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { reading, showDone, useChange } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

const NAMES = { google: "Google", github: "GitHub" } as const;

export function IdentitiesSection() {
  const identities = useQuery(reading("listIdentities", {}));
  const methods = useQuery(reading("listSignInMethods", {}));
  const link = useChange("startIdentityLink", { onSuccess: ({ url }) => location.assign(url) });
  const unlink = useChange("unlinkIdentity", { onSuccess: () => showDone("Account unlinked.") });
  const linkable = methods.data?.providers ?? [];
  return (
    <Section
      title="Linked accounts"
      about="Accounts with other providers that you can use to sign in."
      actions={
        <Group gap="sm">
          {linkable.map((provider) => (
            <Button
              key={provider}
              size="sm"
              variant="default"
              loading={link.isPending}
              onClick={() => link.mutate({ params: { provider }, query: { returnTo: "/console/account" } })}
            >
              Link {NAMES[provider]}
            </Button>
          ))}
        </Group>
      }
    >
      <Read query={identities}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed">
              No linked accounts.
              {linkable.length === 0 && " This deployment does not offer sign-in with Google or GitHub."}
            </Text>
          ) : (
            data.map(({ provider, subject, email, createdAt }) => (
              <Group key={`${provider} ${subject}`} justify="space-between">
                <Stack gap={2}>
                  <Text fw={600}>{NAMES[provider]}</Text>
                  <Text size="sm" c="dimmed" component="div">
                    {email ?? subject}, linked <Time value={createdAt} />
                  </Text>
                </Stack>
                <ConfirmButton
                  action="Unlink"
                  subject={NAMES[provider]}
                  size="xs"
                  isBusy={unlink.isPending}
                  consequence={`You will no longer be able to sign in with this ${NAMES[provider]} account.`}
                  onConfirmed={() => unlink.mutate({ params: { provider, subject } })}
                />
              </Group>
            ))
          )
        }
      </Read>
    </Section>
  );
}
