import { Avatar, Group, Menu, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Icon } from "./icons.tsx";
import { useMerchants, useNavigationMerchant } from "./merchants.ts";

const ROLE_NAMES = { OWNER: "Owner", ADMIN: "Admin", MEMBER: "Member", VIEWER: "Viewer" } as const;

export function MerchantSwitcher() {
  const merchants = useMerchants();
  const open = useNavigationMerchant();
  const navigate = useNavigate();
  if (merchants.length === 0) return <Brand />;
  return (
    <Menu width={260} position="bottom-start">
      <Menu.Target>
        <UnstyledButton w="100%" p={6}>
          <Group gap="sm" wrap="nowrap">
            <MerchantAvatar name={open?.name ?? "Edgetill"} />
            <div style={{ minWidth: 0, flex: 1 }}>
              <Text fw={650} truncate>
                {open?.name ?? "Choose a merchant"}
              </Text>
              <Text size="xs" c="dimmed">
                {open?.role ? ROLE_NAMES[open.role] : "Edgetill"}
              </Text>
            </div>
            <Icon name="chevron" />
            <VisuallyHidden>Switch merchant</VisuallyHidden>
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Your merchants</Menu.Label>
        {merchants.map((merchant) => (
          <Menu.Item
            key={merchant.id}
            leftSection={<MerchantAvatar name={merchant.name} />}
            rightSection={merchant.id === open?.id ? <Icon name="check" /> : undefined}
            onClick={() => navigate({ to: "/console/$merchantId", params: { merchantId: merchant.id } })}
          >
            {merchant.name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="plus" />} onClick={() => navigate({ to: "/console/welcome" })}>
          New merchant
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export function Brand() {
  return (
    <Group gap="sm" p={6}>
      <MerchantAvatar name="Edgetill" />
      <Text fw={700}>Edgetill</Text>
    </Group>
  );
}

/** The first letter of the name, in any script. */
function MerchantAvatar({ name }: { readonly name: string }) {
  const [letter = "?"] = name.trim();
  return (
    <Avatar aria-hidden size="sm" radius="md" color="indigo" variant="filled">
      {letter.toUpperCase()}
    </Avatar>
  );
}
