import { Select, type SelectProps } from "@mantine/core";
import { CURRENCIES } from "./currencies.ts";

/** The field also accepts the stored currency of a price if it is not in the list. */
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
