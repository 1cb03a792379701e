// Fields of an invoice's form that are filled from the merchant's data.
import { MultiSelect, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import type { Customer, Product } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { coinName } from "../shell/coin-name.ts";
import { useMerchant } from "../shell/merchants.ts";
import { useFormats } from "../shell/reader.tsx";

const SEARCH_AFTER_MS = 300;
const SHOWN = 20;

interface ProductProps {
  readonly value: string;
  readonly onChosen: (product: Product | undefined) => void;
}

/** Not shown if there is no product. */
export function ProductField({ value, onChosen }: ProductProps) {
  const { id: merchantId } = useMerchant();
  const { money } = useFormats();
  const [text, setText] = useState("");
  const [chosen, choose] = useState<Product>();
  const labelOf = ({ name, price, currency }: Product) => `${name}, ${money(price, currency)}`;
  const search = useSearchText(text, chosen === undefined ? undefined : labelOf(chosen));
  const { data } = useList("listProducts", { merchantId, query: { isActive: true, limit: SHOWN, ...search } });
  const found = data?.data ?? [];
  if (found.length === 0 && text === "") return null;
  return (
    <Select
      label="Product"
      description="Fills in the name and amount. Leave empty to enter them yourself."
      searchable
      clearable
      clearButtonProps={{ "aria-label": "No product" }}
      data={found.map((product) => ({ value: product.id, label: labelOf(product) }))}
      filter={({ options }) => options}
      value={value === "" ? null : value}
      searchValue={text}
      onSearchChange={setText}
      onChange={(id) => {
        const product = found.find((each) => each.id === id);
        choose(product);
        onChosen(product);
      }}
      nothingFoundMessage="No matching products"
    />
  );
}

/** Fills in the fields of a known customer; not shown if there is no customer. */
export function CustomerField({ onChosen }: { readonly onChosen: (customer: Customer) => void }) {
  const { id: merchantId } = useMerchant();
  const [text, setText] = useState("");
  const [chosen, choose] = useState<Customer>();
  const labelOf = ({ id, name, email }: Customer) => [name, email].filter((each) => each !== null).join(", ") || id;
  const search = useSearchText(text, chosen === undefined ? undefined : labelOf(chosen));
  const { data } = useList("listCustomers", { merchantId, query: { limit: SHOWN, ...search } });
  const found = data?.data ?? [];
  if (found.length === 0 && text === "") return null;
  return (
    <Select
      label="Existing customer"
      placeholder="Name or email"
      searchable
      data={found.map((customer) => ({ value: customer.id, label: labelOf(customer) }))}
      filter={({ options }) => options}
      value={chosen?.id ?? null}
      searchValue={text}
      onSearchChange={setText}
      onChange={(id) => {
        const customer = found.find((each) => each.id === id);
        choose(customer);
        if (customer !== undefined) onChosen(customer);
      }}
      nothingFoundMessage="No matching customers"
    />
  );
}

interface MethodsProps {
  readonly pairs: readonly string[];
  readonly value: readonly string[];
  readonly onChange: (pairs: string[]) => void;
}

export function MethodsField({ pairs, value, onChange }: MethodsProps) {
  return (
    <MultiSelect
      label="Coins to quote right away"
      description="The customer can choose any of your coins on the payment page. Coins you pick here have an address and amount from the start."
      data={pairs.map((pair) => ({ value: pair, label: pairName(pair) }))}
      value={[...value]}
      onChange={onChange}
      clearButtonProps={{ "aria-label": "Clear coins" }}
    />
  );
}

function pairName(pair: string): string {
  const [cryptocurrency = "", network = ""] = pair.split(" on ");
  return coinName(cryptocurrency, network);
}

/** The text to search for. If the field holds the label of the chosen item, there is no search. */
function useSearchText(text: string, label: string | undefined): { readonly search?: string } {
  const [search] = useDebouncedValue(text.trim(), SEARCH_AFTER_MS);
  return search === "" || search === label ? {} : { search };
}
