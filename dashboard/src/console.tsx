import "@mantine/core/styles.css";
import { MantineProvider, Title } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { cspNonce } from "./csp-nonce.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <MantineProvider getStyleNonce={cspNonce} defaultColorScheme="auto">
      <Title>Edgetill</Title>
    </MantineProvider>
  </StrictMode>,
);
