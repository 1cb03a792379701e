import { Button, Kbd, Text } from "@mantine/core";
import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Icon } from "./icons.tsx";
import { useMe, useMerchants, useNavigationMerchant } from "./merchants.ts";
import { ACCOUNT, merchantPagesFor, OPERATOR, WELCOME } from "./pages.ts";
import { useFound } from "./use-found.tsx";

const PLACEHOLDER = "Find a page, an invoice or a customer";

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
        Find anything
      </Text>
    </Button>
  );
}

/** Ctrl-K: finds pages, merchants to switch to, and the open merchant's data: invoices, customers and payments. */
export function PageSearch() {
  const navigate = useNavigate();
  const merchants = useMerchants();
  const open = useNavigationMerchant();
  const { isOperator } = useMe();
  const [query, setQuery] = useState("");
  const found = useFound(open, query);
  const pages: SpotlightActionData[] = (open === undefined ? [] : merchantPagesFor(open)).map(
    ({ name, icon, to, about, words }) => ({
      id: name,
      label: name,
      description: about,
      ...keywordsOf(words),
      leftSection: <Icon name={icon} />,
      onClick: () => navigate({ to, params: { merchantId: open?.id ?? "" } }),
    }),
  );
  const own: SpotlightActionData[] = [WELCOME, ACCOUNT, ...(isOperator ? [OPERATOR] : [])].map(
    ({ name, icon, to, about, words }) => ({
      id: name,
      label: name,
      description: about,
      ...keywordsOf(words),
      leftSection: <Icon name={icon} />,
      onClick: () => navigate({ to }),
    }),
  );
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
        ...found.groups,
        { group: "Pages", actions: [...pages, ...own] },
        { group: "Merchants", actions: switches },
      ]}
      shortcut="mod + K"
      query={query}
      onQueryChange={setQuery}
      nothingFound={found.isSearching ? "Searching…" : "Nothing found"}
      highlightQuery
      scrollable
      maxHeight={420}
      attributes={{ content: { "aria-label": "Search" } }}
      searchProps={{
        leftSection: <Icon name="search" />,
        placeholder: PLACEHOLDER,
        "aria-label": PLACEHOLDER,
        onKeyDown: ({ key, currentTarget }) => {
          if (key === "Enter") openFirst(currentTarget.closest('[role="dialog"]'));
        },
      }}
    />
  );
}

function keywordsOf(words: readonly string[] | undefined): Pick<SpotlightActionData, "keywords"> {
  return words === undefined ? {} : { keywords: [...words] };
}

/** Opens the first row if none is selected. The dialog itself selects a row only when something is typed, which may be before the results arrive. */
function openFirst(dialog: Element | null): void {
  if (dialog?.querySelector("[data-action][data-selected]") !== null) return;
  dialog.querySelector<HTMLElement>("[data-action]")?.click();
}
