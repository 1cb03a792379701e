import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import type { Merchant, Product } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { numberError, numberIn, priceRule, wireNumber } from "../shell/amounts.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { refusedIn } from "../shell/form.tsx";
import { NumberField } from "../shell/number-field.tsx";
import { QrCode } from "../shell/qr-code.tsx";

const CURRENCIES = ["USD", "EUR", "GBP", "CHF"] as const;
const LONGEST_NAME = 200;
const NO_PRICE = "Enter a price";

interface Props {
  readonly merchant: Merchant;
  readonly onDone: () => void;
  readonly onSkip: () => void;
}

interface Values {
  readonly name: string;
  /** As typed. */
  readonly price: string;
  readonly currency: (typeof CURRENCIES)[number];
}

export function FirstProduct({ merchant, onDone, onSkip }: Props) {
  const [product, setProduct] = useState<Product>();
  const form = useForm<Values>({
    initialValues: { name: "", price: "", currency: "USD" },
    validate: {
      name: (name) => (name.trim() === "" ? "Enter what you sell" : null),
      price: (price, { currency }) =>
        numberIn(price, priceRule(currency)) === 0 ? NO_PRICE : numberError(price, priceRule(currency), NO_PRICE),
    },
  });
  const create = useChange("createProduct", { isShownInPlace: true, onSuccess: setProduct });
  if (product !== undefined) return <BuyLink product={product} onDone={onDone} />;
  const send = ({ name, price, currency }: Values) =>
    create.mutate(
      { merchantId: merchant.id, body: { name: name.trim(), price: wireNumber(price, priceRule(currency)), currency } },
      refusedIn(form),
    );
  return (
    <form onSubmit={form.onSubmit(send)}>
      <Stack>
        <TextInput label="Product" maxLength={LONGEST_NAME} {...form.getInputProps("name")} />
        <Group grow align="flex-start">
          <NumberField label="Price" rule={priceRule(form.values.currency)} {...form.getInputProps("price")} />
          <Select label="Currency" data={[...CURRENCIES]} allowDeselect={false} {...form.getInputProps("currency")} />
        </Group>
        <Group justify="flex-end">
          <Button variant="subtle" onClick={onSkip}>
            Skip
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create page
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function BuyLink({ product, onDone }: { readonly product: Product; readonly onDone: () => void }) {
  const link = `${location.origin}/buy/${product.id}`;
  return (
    <Stack>
      <Text>
        <bdi>{product.name}</bdi> has a page. Share the link or show the QR code.
      </Text>
      <Group align="flex-start">
        <QrCode text={link} label={`QR code for ${product.name}`} size={150} />
        <CopyText value={link} name="the link" />
      </Group>
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
}
