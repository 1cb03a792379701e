import { Button, Kbd, Text } from "@mantine/core";
import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import { useNavigate } from "@tanstack/react-router";
import { Icon } from "./icons.tsx";
import { useMerchants, useNavigationMerchant } from "./merchants.ts";
import { ACCOUNT, merchantPagesFor, WELCOME } from "./pages.ts";

export function SearchButton() {
  return (
    <Button
      variant="default"
      fw={400}
      c="dimmed"
      leftSection={<Icon name="search" size={16} />}
      rightSection={<Kbd size="xs">Ctrl K</Kbd>}
      onClick={spotlight.open}
      visibleFrom="xs"
    >
      <Text span size="sm" inherit>
        Find a page
      </Text>
    </Button>
  );
}

/** Ctrl-K: finds pages, and merchants to switch to. */
export function PageSearch() {
  const navigate = useNavigate();
  const merchants = useMerchants();
  const open = useNavigationMerchant();
  const pages: SpotlightActionData[] = (open === undefined ? [] : merchantPagesFor(open)).map(
    ({ name, icon, to, about }) => ({
      id: name,
      label: name,
      description: about,
      leftSection: <Icon name={icon} />,
      onClick: () => navigate({ to, params: { merchantId: open?.id ?? "" } }),
    }),
  );
  const own: SpotlightActionData[] = [WELCOME, ACCOUNT].map(({ name, icon, to, about }) => ({
    id: name,
    label: name,
    description: about,
    leftSection: <Icon name={icon} />,
    onClick: () => navigate({ to }),
  }));
  const switches: SpotlightActionData[] = merchants.map(({ id, name }) => ({
    id,
    label: name,
    description: "Switch to this merchant",
    leftSection: <Icon name="shop" />,
    onClick: () => navigate({ to: "/console/$merchantId", params: { merchantId: id } }),
  }));
  return (
    <Spotlight
      actions={[
        { group: "Pages", actions: [...pages, ...own] },
        { group: "Merchants", actions: switches },
      ]}
      shortcut="mod + K"
      nothingFound="Nothing found"
      highlightQuery
      scrollable
      maxHeight={420}
      searchProps={{ leftSection: <Icon name="search" />, placeholder: "Find a page", "aria-label": "Find a page" }}
    />
  );
}
