import { NavLink, type NavLinkProps, Stack } from "@mantine/core";
import { createLink, useMatchRoute } from "@tanstack/react-router";
import type { Ref } from "react";
import { Icon } from "./icons.tsx";
import { useMe, useMerchants, useNavigationMerchant } from "./merchants.ts";
import { ACCOUNT, merchantPagesFor, OPERATOR, WELCOME } from "./pages.ts";

const RouterNavLink = createLink((props: NavLinkProps & { readonly ref?: Ref<HTMLAnchorElement> }) => (
  <NavLink component="a" {...props} />
));

/** One link for each page that the user may see. */
export function Navigation({ onChosen }: { readonly onChosen: () => void }) {
  const merchants = useMerchants();
  const open = useNavigationMerchant();
  const matches = useMatchRoute();
  const { isOperator } = useMe();
  const own = [...(merchants.length === 0 ? [WELCOME] : []), ACCOUNT, ...(isOperator ? [OPERATOR] : [])];
  return (
    <Stack gap={2}>
      {open !== undefined &&
        merchantPagesFor(open).map(({ name, icon, to }) => (
          <RouterNavLink
            key={name}
            to={to}
            params={{ merchantId: open.id }}
            label={name}
            leftSection={<Icon name={icon} />}
            onClick={onChosen}
            // Home is active only on its own address, because the addresses of all other pages begin with it.
            activeOptions={{ exact: to === "/console/$merchantId" }}
            active={Boolean(matches({ to, params: { merchantId: open.id }, fuzzy: to !== "/console/$merchantId" }))}
            {...LOOK}
          />
        ))}
      {own.map(({ name, icon, to }) => (
        <RouterNavLink
          key={name}
          to={to}
          label={name}
          leftSection={<Icon name={icon} />}
          onClick={onChosen}
          active={Boolean(matches({ to }))}
          {...LOOK}
        />
      ))}
    </Stack>
  );
}

const LOOK = { fw: 550, style: { borderRadius: "var(--mantine-radius-md)" } } as const;
