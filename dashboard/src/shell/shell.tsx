// The layout of every page for signed-in users.
import "@mantine/spotlight/styles.css";
import { AppShell, Burger, Container, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet } from "@tanstack/react-router";
import { useLiveUpdates } from "./live-updates.ts";
import { MerchantSwitcher } from "./merchant-switcher.tsx";
import { Navigation } from "./navigation.tsx";
import { PageSearch, SearchButton } from "./page-search.tsx";
import { ColorSchemeButton, UserMenu } from "./user-menu.tsx";

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  useLiveUpdates();
  return (
    <AppShell
      layout="alt"
      header={{ height: 56 }}
      navbar={{ width: 250, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding={{ base: "md", sm: "xl" }}
    >
      <a href="#content" className="skip-link">
        Skip to content
      </a>
      <AppShell.Header px="md" withBorder>
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Menu"
              aria-expanded={isOpen}
            />
            <SearchButton />
          </Group>
          <Group gap="sm" wrap="nowrap">
            <ColorSchemeButton />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Console" className={isOpen ? undefined : "closed-menu"}>
        <AppShell.Section mb="md">
          <Group justify="space-between" wrap="nowrap">
            <MerchantSwitcher />
            <Burger opened onClick={close} hiddenFrom="sm" size="sm" aria-label="Close menu" />
          </Group>
        </AppShell.Section>
        <AppShell.Section grow>
          <Navigation onChosen={close} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Container size="lg" px={0}>
          <Outlet />
        </Container>
      </AppShell.Main>
      <PageSearch />
    </AppShell>
  );
}
