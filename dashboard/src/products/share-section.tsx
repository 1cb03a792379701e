import { Anchor, Box, Code, Group, Stack, Text } from "@mantine/core";
import type { Product } from "../api/operations.ts";
import { CopyIcon, CopyText } from "../shell/copy-text.tsx";
import { QrCode } from "../shell/qr-code.tsx";
import { Section } from "../shell/section.tsx";
import { buttonSnippet } from "./button-snippet.ts";

export function ShareSection({ product }: { readonly product: Product }) {
  const { name, checkoutUrl } = product;
  const snippet = buttonSnippet(product);
  return (
    <Section title="Share" about="Anyone who opens its page can buy it. Every purchase gets its own invoice.">
      <Group align="flex-start">
        <QrCode text={checkoutUrl} label={`QR code for ${name}`} size={150} />
        <Stack gap="xs" style={{ flex: "1 1 12rem" }}>
          <Text size="sm" component="div">
            <CopyText value={checkoutUrl} name="the link" />
          </Text>
          <Anchor href={checkoutUrl} target="_blank" rel="noreferrer" size="sm">
            Open page
          </Anchor>
        </Stack>
      </Group>
      <Stack gap="xs">
        <Group justify="space-between">
          <Text fw={600} size="sm">
            A button for your own site
          </Text>
          <CopyIcon value={snippet} name="the button code" />
        </Group>
        <Box component="section" aria-label="Button HTML" tabIndex={0} style={{ overflowX: "auto" }}>
          <Code block style={{ width: "max-content", minWidth: "100%" }}>
            {snippet}
          </Code>
        </Box>
      </Stack>
    </Section>
  );
}
