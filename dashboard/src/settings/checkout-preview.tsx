// A preview of the customer's page while its brand is being edited, with the same colours and rules as the page itself
// (src/checkout/pay/brand-color.ts).
import { Box, Group, Image, Stack, Text, useComputedColorScheme } from "@mantine/core";
import { BACKGROUNDS, brandColors, INK } from "../../../src/checkout/pay/brand-color.ts";
import { useFormats } from "../shell/reader.tsx";

interface Props {
  readonly name: string;
  readonly color: string | null;
  readonly logoUrl: string | null;
  readonly hasSupport: boolean;
}

/** The same colours as in the page's style.css. */
const DIM = { light: "#565e6b", dark: "#a4adba" } as const;
const LINE = { light: "#dde1e7", dark: "#2d333d" } as const;

export function CheckoutPreview({ name, color, logoUrl, hasSupport }: Props) {
  const scheme = useComputedColorScheme("light");
  const { money } = useFormats();
  const { brand, onBrand, [scheme]: own } = brandColors(color);
  const [page, card] = BACKGROUNDS[scheme];
  const line = `1px solid ${LINE[scheme]}`;
  return (
    <Box component="figure" m={0} aria-label="Payment page preview">
      <Text component="figcaption" size="sm" fw={500} mb={6}>
        Payment page
      </Text>
      <Stack
        gap={0}
        bg={page}
        c={INK[scheme]}
        style={{ border: line, borderTop: `4px solid ${brand}`, borderRadius: 12 }}
      >
        <Stack gap={4} p="md">
          <Group gap="sm" wrap="nowrap">
            {logoUrl !== null && <Image src={logoUrl} alt="" w={36} h={36} fit="contain" radius="sm" />}
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {name}
            </Text>
          </Group>
          <Text size="sm">Order 1001</Text>
          <Text fz={26} fw={700} lh={1.25}>
            {money("49.900000", "USD")}
          </Text>
        </Stack>
        <Stack gap="sm" p="md" bg={card} style={{ borderTop: line, borderBottom: line }}>
          <Text fw={650}>Send exactly this amount</Text>
          <Text size="sm">
            <strong>Tether USD</strong> on Ethereum (ERC-20)
          </Text>
          <Text fw={700} fz="lg">
            49.9 USDT
          </Text>
          <Text ta="center" fw={600} py={10} bg={brand} c={onBrand} style={{ borderRadius: 8 }}>
            Open in wallet app
          </Text>
        </Stack>
        <Stack gap={2} p="md">
          <Text size="xs" c={DIM[scheme]} style={{ overflowWrap: "anywhere" }}>
            Paid straight into the wallet of {name}.
          </Text>
          {hasSupport && (
            <Text size="xs" c={own.text} td="underline" style={{ overflowWrap: "anywhere" }}>
              Contact {name}
            </Text>
          )}
        </Stack>
      </Stack>
    </Box>
  );
}
