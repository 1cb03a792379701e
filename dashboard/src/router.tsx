// The page at each address. These are the paths for which the Worker serves the console (src/app/console/paths.ts); pages are loaded when
// they are first opened.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { CONSOLE_PAGES } from "../../src/app/console/paths.ts";
import { ApiError } from "./api/errors.ts";
import type { Merchant } from "./api/operations.ts";
import { isSignedOut } from "./api/queries.ts";
import { auditSearch } from "./audit/search.ts";
import { customerSearch } from "./customers/customer-search.ts";
import { customersSearch } from "./customers/search.ts";
import { developersSearch } from "./developers/search.ts";
import { endpointSearch } from "./endpoint/search.ts";
import { homeSearch } from "./home/spans.ts";
import { invoicesSearch } from "./invoices/search.ts";
import { paymentsSearch } from "./payments/search.ts";
import { productsSearch } from "./products/search.ts";
import { readinessSearch } from "./readiness/search.ts";
import { reportsSearch } from "./reports/search.ts";
import { ConnectionBanner } from "./shell/connection-banner.tsx";
import { firstMerchant, ME, MERCHANTS, rememberMerchant } from "./shell/merchants.ts";
import { BrokenPage, Loading, NoSuchPage } from "./shell/problem.tsx";
import { Shell } from "./shell/shell.tsx";
import { StepUpDialog } from "./shell/step-up-dialog.tsx";
import { signInSearch } from "./sign-in/search.ts";

/** `/console/:merchantId` in this router's syntax. */
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

const setUp = createRoute({
  getParentRoute: () => root,
  path: pathOf(CONSOLE_PAGES.setUp),
  component: lazyRouteComponent(() => import("./set-up/set-up-page.tsx"), "SetUpPage"),
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

const authorize = createRoute({
  getParentRoute: () => root,
  path: pathOf(CONSOLE_PAGES.authorize),
  component: lazyRouteComponent(() => import("./authorize/authorize-page.tsx"), "AuthorizePage"),
});

/** Pages of a signed-in user. The user and their merchants are read first. */
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

/** The page for operators of the deployment. Other users get the page for unknown addresses. */
const operator = createRoute({
  getParentRoute: () => frame,
  path: pathOf(CONSOLE_PAGES.operator),
  loader: async ({ context }) => {
    if (!(await context.queries.ensureQueryData(ME)).isOperator) throw notFound();
  },
  component: lazyRouteComponent(() => import("./operator/operator-page.tsx"), "OperatorPage"),
});

/** Pages of a merchant that the user is a member of. */
const ofMerchant = createRoute({
  getParentRoute: () => frame,
  id: "merchant",
  loader: async ({ context, params }) => {
    const merchantId = "merchantId" in params ? params.merchantId : undefined;
    const named = ({ id }: Merchant) => id === merchantId;
    const known = (await context.queries.ensureQueryData(MERCHANTS)).data.find(named);
    // A merchant that was just created or joined is not in the cached list.
    const merchant = known ?? (await context.queries.fetchQuery({ ...MERCHANTS, staleTime: 0 })).data.find(named);
    if (merchant === undefined) throw new ApiError(404, { code: "MERCHANT_NOT_FOUND" });
    rememberMerchant(merchant);
  },
});

const merchant = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.merchant),
  validateSearch: homeSearch,
  component: lazyRouteComponent(() => import("./home/home-page.tsx"), "HomePage"),
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
  component: lazyRouteComponent(() => import("./invoices/invoice-page.tsx"), "InvoicePage"),
});

const payments = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.payments),
  validateSearch: paymentsSearch,
  component: lazyRouteComponent(() => import("./payments/payments-page.tsx"), "PaymentsPage"),
});

const payment = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.payment),
  component: lazyRouteComponent(() => import("./payments/payment-page.tsx"), "PaymentPage"),
});

const reports = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.reports),
  validateSearch: reportsSearch,
  component: lazyRouteComponent(() => import("./reports/reports-page.tsx"), "ReportsPage"),
});

const wallets = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.wallets),
  component: lazyRouteComponent(() => import("./wallets/wallets-page.tsx"), "WalletsPage"),
});

const wallet = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.wallet),
  component: lazyRouteComponent(() => import("./wallets/wallet-page.tsx"), "WalletPage"),
});

const readiness = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.readiness),
  validateSearch: readinessSearch,
  component: lazyRouteComponent(() => import("./readiness/readiness-page.tsx"), "ReadinessPage"),
});

const products = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.products),
  validateSearch: productsSearch,
  component: lazyRouteComponent(() => import("./products/products-page.tsx"), "ProductsPage"),
});

const product = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.product),
  component: lazyRouteComponent(() => import("./products/product-page.tsx"), "ProductPage"),
});

const customers = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.customers),
  validateSearch: customersSearch,
  component: lazyRouteComponent(() => import("./customers/customers-page.tsx"), "CustomersPage"),
});

const customer = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.customer),
  validateSearch: customerSearch,
  component: lazyRouteComponent(() => import("./customers/customer-page.tsx"), "CustomerPage"),
});

const developers = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.developers),
  validateSearch: developersSearch,
  component: lazyRouteComponent(() => import("./developers/developers-page.tsx"), "DevelopersPage"),
});

const endpoint = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.endpoint),
  validateSearch: endpointSearch,
  component: lazyRouteComponent(() => import("./endpoint/endpoint-page.tsx"), "EndpointPage"),
});

const team = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.team),
  component: lazyRouteComponent(() => import("./team/team-page.tsx"), "TeamPage"),
});

const settings = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.settings),
  component: lazyRouteComponent(() => import("./settings/settings-page.tsx"), "SettingsPage"),
});

const audit = createRoute({
  getParentRoute: () => ofMerchant,
  path: pathOf(CONSOLE_PAGES.audit),
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import("./audit/audit-page.tsx"), "AuditPage"),
});

const routeTree = root.addChildren([
  signIn,
  setUp,
  invitation,
  disableWallet,
  authorize,
  frame.addChildren([
    start,
    welcome,
    account,
    operator,
    ofMerchant.addChildren([
      merchant,
      invoices,
      invoice,
      payments,
      payment,
      reports,
      wallets,
      wallet,
      readiness,
      products,
      product,
      customers,
      customer,
      developers,
      endpoint,
      team,
      settings,
      audit,
    ]),
  ]),
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
