import { Select, type SelectProps } from "@mantine/core";

/** Those that customers see most; the API knows more, and keeps the one of a product. */
const CURRENCIES = [
  "USD",
  "EUR",
  "GBP",
  "CHF",
  "CAD",
  "AUD",
  "JPY",
  "SGD",
  "HKD",
  "PLN",
  "SEK",
  "NOK",
  "DKK",
  "CZK",
] as const;

/** A price may be in a currency not offered here. */
export function CurrencyField({ value = null, ...input }: Omit<SelectProps<string>, "data">) {
  return (
    <Select
      label="Currency"
      data={[...new Set([...CURRENCIES, ...(value === null ? [] : [value])])]}
      searchable
      allowDeselect={false}
      value={value}
      {...input}
    />
  );
}
