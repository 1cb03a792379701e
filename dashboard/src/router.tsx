// Which page is at which address. The paths are those that the Worker answers with the console (src/app/console/paths.ts); pages are loaded
// when they are first opened.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { CONSOLE_PAGES } from "../../src/app/console/paths.ts";
import { ApiError } from "./api/errors.ts";
import type { Merchant } from "./api/operations.ts";
import { isSignedOut } from "./api/queries.ts";
import { invoicesSearch } from "./invoices/search.ts";
import { ConnectionBanner } from "./shell/connection-banner.tsx";
import { firstMerchant, ME, MERCHANTS, rememberMerchant } from "./shell/merchants.ts";
import { BrokenPage, Loading, NoSuchPage } from "./shell/problem.tsx";
import { Shell } from "./shell/shell.tsx";
import { StepUpDialog } from "./shell/step-up-dialog.tsx";
import { signInSearch } from "./sign-in/search.ts";

/** `/console/:merchantId` as this router writes it. */
type Pattern<P extends string> = P extends `${infer Head}:${infer Rest}` ? `${Head}$${Pattern<Rest>}` : P;

function pathOf<P extends string>({ path }: { readonly path: P }): Pattern<P> {
  return path.replaceAll(":", "$") as Pattern<P>;
}

const root = createRootRouteWithContext<{ readonly queries: QueryClient }>()({
  component: () => (
    <>
      <ConnectionBanner />
      <Outlet />
      <StepUpDialog />
    </>
  ),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: pathOf(CONSOLE_PAGES.signIn),
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import("./sign-in/sign-in-page.tsx"), "SignInPage"),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: pathOf(CONSOLE_PAGES.invitation),
  component: lazyRouteComponent(() => import("./invitations/invitations-page.tsx"), "InvitationsPage"),
});

const disableWallet = createRoute({
  getParentRoute: () => root,
  path: pathOf(CONSOLE_PAGES.disableWallet),
  component: lazyRouteComponent(() => import("./disable-wallet/disable-wallet-page.tsx"), "DisableWalletPage"),
});

/** Pages of a signed-in user: who they are and their merchants are read first. */
const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: Shell,
  loader: async ({ context, location }) => {
    try {
      await Promise.all([context.queries.ensureQueryData(ME), context.queries.ensureQueryData(MERCHANTS)]);
    } catch (error) {
      if (!(error instanceof ApiError) || !isSignedOut(error)) throw error;
      throw redirect({ to: "/sign-in", search: { returnTo: location.href } });
    }
  },
});

const start = createRoute({
  getParentRoute: () => frame,
  path: pathOf(CONSOLE_PAGES.start),
  loader: async ({ context }) => {
    const { data } = await context.queries.fetchQuery({ ...MERCHANTS, staleTime: 0 });
    const first = firstMerchant(data);
    if (first === undefined) throw redirect({ to: "/console/welcome" });
    throw redirect({ to: "/console/$merchantId", params: { merchantId: first.id } });
  },
});

const welcome = createRoute({
  getParentRoute: () => frame,
  path: pathOf(CONSOLE_PAGES.welcome),
  component: lazyRouteComponent(() => import("./welcome/welcome-page.tsx"), "WelcomePage"),
});

const account = createRoute({
  getParentRoute: () => frame,
  path: pathOf(CONSOLE_PAGES.account),
  component: lazyRouteComponent(() => import("./account/account-page.tsx"), "AccountPage"),
});

/** Pages of a merchant that the user is a member of. */
const ofMerchant = createRoute({
  getParentRoute: () => frame,
  id: "merchant",
  loader: async ({ context, params }) => {
    const { merchantId } = params as { readonly merchantId?: string };
    const named = ({ id }: Merchant) => id === merchantId;
    const known = (await context.queries.ensureQueryData(MERCHANTS)).data.find(named);
    // One that was just made, or joined, is not in the list that was read before.
    const merchant = known ?? (await context.queries.fetchQuery({ ...MERCHANTS, staleTime: 0 })).data.find(named);
    if (merchant === undefined) throw new ApiError(404, { code: "MERCHANT_NOT_FOUND" });
    rememberMerchant(merchant);
  },
});

const merchant = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.merchant),
  loader: ({ params }) => {
    throw redirect({ to: "/console/$merchantId/invoices", params });
  },
});

const invoices = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.invoices),
  validateSearch: invoicesSearch,
  component: lazyRouteComponent(() => import("./invoices/invoices-page.tsx"), "InvoicesPage"),
});

const invoice = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.invoice),
  component: lazyRouteComponent(() => import("./invoice/invoice-page.tsx"), "InvoicePage"),
});

const routeTree = root.addChildren([
  signIn,
  invitation,
  disableWallet,
  frame.addChildren([start, welcome, account, ofMerchant.addChildren([merchant, invoices, invoice])]),
]);

export function consoleRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    context: { queries },
    defaultPreload: "intent",
    defaultPendingComponent: Loading,
    defaultErrorComponent: BrokenPage,
    defaultNotFoundComponent: NoSuchPage,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof consoleRouter>;
  }
}
