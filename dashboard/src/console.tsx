import "./set-up/set-up-token.ts";
import "./mantine-styles.ts";
import "@mantine/notifications/styles.css";
import "./style.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/queries.ts";
import { cspNonce } from "./csp-nonce.ts";
import { consoleRouter } from "./router.tsx";
import { NotSetUpPage } from "./set-up/not-set-up-page.tsx";
import { isNotSetUp } from "./shell/deployment.ts";
import { ME } from "./shell/merchants.ts";
import { cssVariables, theme } from "./theme.ts";

// Pages outside /console show the sign-in themselves, so they only need to know when the session ends.
const queries = createQueryClient(() => {
  const { pathname, href } = router.state.location;
  if (pathname.startsWith("/console")) void router.navigate({ to: "/sign-in", search: { returnTo: href } });
  else if (queries.getQueryState(ME.queryKey)?.status === "success") void queries.invalidateQueries(ME);
});
const router = consoleRouter(queries);

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      getStyleNonce={cspNonce}
      defaultColorScheme="auto"
    >
      <QueryClientProvider client={queries}>
        <Notifications position="bottom-right" containerWidth="min(25rem, calc(100vw - 2rem))" />
        {isNotSetUp ? <NotSetUpPage /> : <RouterProvider router={router} />}
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
