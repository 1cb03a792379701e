import { ActionIcon, Avatar, Menu, Text, Tooltip, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useChange } from "../api/queries.ts";
import { forgetDrafts } from "./drafts.ts";
import { Icon, type IconName } from "./icons.tsx";
import { useMe } from "./merchants.ts";

export function UserMenu() {
  const me = useMe();
  const navigate = useNavigate();
  // The page is reloaded, so that none of the ended session's data stays in memory.
  const signOut = useChange("signOut", {
    onSuccess: () => {
      forgetDrafts(sessionStorage);
      location.assign("/sign-in");
    },
  });
  const [letter = "?"] = me.name ?? me.email;
  return (
    <Menu width={230} position="bottom-end">
      <Menu.Target>
        <UnstyledButton aria-label={`Signed in as ${me.email}`}>
          <Avatar aria-hidden radius="xl" size={34} color="indigo">
            {letter.toUpperCase()}
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" truncate>
            {me.email}
          </Text>
        </Menu.Label>
        <Menu.Item leftSection={<Icon name="account" />} onClick={() => navigate({ to: "/console/account" })}>
          Your account
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="signOut" />} onClick={() => signOut.mutate({})}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const SCHEMES = { light: "sun", dark: "moon", auto: "system" } as const satisfies Record<string, IconName>;
const NEXT = { auto: "light", light: "dark", dark: "auto" } as const;
const NAMES = { auto: "system", light: "light", dark: "dark" } as const;

export function ColorSchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = `Colour scheme: ${NAMES[colorScheme]}`;
  return (
    <Tooltip label={name}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={name}
        onClick={() => setColorScheme(NEXT[colorScheme])}
      >
        <Icon name={SCHEMES[colorScheme]} />
      </ActionIcon>
    </Tooltip>
  );
}
