import { Select, type SelectProps } from "@mantine/core";
import { CURRENCIES } from "./currencies.ts";

/** A price may be in a currency that is not offered here. */
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
